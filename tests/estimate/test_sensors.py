"""Which numbers of an observation are sensed."""

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.estimate.sensors import sensed_columns
from isthmus.robots import load_task


@pytest.fixture(scope="module")
def body():
    return load_task("hopper").robot_model


def test_everything_is_sensed_by_default(body):
    assert sensed_columns(body, ()).tolist() == list(range(12))


def test_positions_and_velocities_are_what_the_state_is_read_from(body):
    assert sensed_columns(body, ("positions",)).tolist() == [0, 1, 2, 3, 4, 5]
    assert sensed_columns(body, ("velocities",)).tolist() == [6, 7, 8, 9, 10, 11]


def test_sensors_have_the_names_of_observations(body):
    assert sensed_columns(body, ("leg_joint", "rootz", "rooty velocity")).tolist() == [1, 4, 8]


def test_the_goal_of_a_task_needs_no_sensor(reacher):
    body = reacher.robot_model
    sensed = sensed_columns(body, ("positions",))
    own = set(range(body.spec.observation_size)) - set(body.spec.robot_dimensions.tolist())
    assert own <= set(sensed.tolist())


def test_encoders_show_joints_and_an_imu_how_the_base_turns(body):
    assert sensed_columns(body, ("encoders",)).tolist() == [3, 4, 5, 9, 10, 11]
    assert sensed_columns(body, ("imu",)).tolist() == [2, 8]


def test_neither_shows_where_a_free_base_is_or_how_fast_it_moves():
    spec = load_task("ant").robot_model.spec
    sensed = sensed_columns(load_task("ant").robot_model, ("encoders", "imu"))
    hidden = np.setdiff1d(np.arange(spec.observation_size), sensed)
    assert [spec.observation_names[i] for i in hidden] == ["root z", *(f"root velocity {axis}" for axis in "xyz")]


def test_a_robot_that_stands_firmly_has_encoders_and_no_imu(reacher):
    body = reacher.robot_model
    assert np.isin(sensed_columns(body, ("encoders",)), [0, 1, 2, 3, 4, 5, 6, 7]).all()
    with pytest.raises(Problem, match=r"nothing for the sensor 'imu' of this robot: it has no floating base"):
        sensed_columns(body, ("encoders", "imu"))


def test_an_unknown_sensor_is_refused_with_the_names_there_are(body):
    with pytest.raises(Problem, match=r"unknown sensor 'leg_jont': choose from .*did you mean 'leg_joint'"):
        sensed_columns(body, ("leg_jont",))
