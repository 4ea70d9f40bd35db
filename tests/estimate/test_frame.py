"""A network sees a robot along its heading, and nothing of the task's own numbers."""

import numpy as np
import pytest

from isthmus.core import stream
from isthmus.estimate.frame import Frame, Heading
from isthmus.estimate.sensors import sensed_columns
from isthmus.robots import load_task


@pytest.fixture(scope="module")
def ant():
    return load_task("ant").robot_model


@pytest.fixture(scope="module")
def sensed(ant):
    return sensed_columns(ant, ("encoders", "imu"))


def moved(ant, turn):
    """Observations before and after a step of robots that are turned by angles (n,) about the vertical."""
    n, rng = len(turn), stream(0, "frame")
    [qpos], [qvel] = ant.start(rng, 1)
    qvel += rng.normal(size=len(qvel))
    qpos, qvel = np.tile(qpos, (n, 1)), np.tile(qvel, (n, 1))
    w, x, y, z = qpos[0, 3:7]
    cos, sin = np.cos(turn / 2), np.sin(turn / 2)
    qpos[:, 3:7] = np.stack((cos * w - sin * z, cos * x - sin * y, cos * y + sin * x, cos * z + sin * w), axis=1)
    along, across = qvel[0, :2]
    qvel[:, 0], qvel[:, 1] = np.cos(turn) * along - np.sin(turn) * across, np.sin(turn) * along + np.cos(turn) * across
    fields, seen = {"qpos": qpos, "qvel": qvel}, np.empty((n, ant.spec.observation_size))
    ant.observe(fields, seen)
    return seen


def test_robots_that_head_elsewhere_look_alike(ant, sensed):
    frame = Frame.of(ant, sensed)
    seen = moved(ant, np.array([0.0, 0.7, -2.0, 3.1, 4.5]))
    angle = frame.angle(seen[:, sensed])
    alike = frame.turned(seen, angle)
    assert alike == pytest.approx(np.tile(alike[:1], (5, 1)), abs=1e-12)
    assert not np.allclose(seen[0], seen[1])
    assert frame.shown(seen[:, sensed], angle) == pytest.approx(alike[:, sensed], abs=1e-12)


def test_the_sign_of_an_orientation_makes_no_difference(ant, sensed):
    frame, seen = Frame.of(ant, sensed), moved(ant, np.array([0.4, 0.4]))
    seen[1, frame.heading.orientation] *= -1
    alike = frame.turned(seen, frame.angle(seen[:, sensed]))
    assert alike[0] == pytest.approx(alike[1], abs=1e-12)


def test_what_was_turned_is_turned_back(ant, sensed):
    frame, seen = Frame.of(ant, sensed), moved(ant, np.array([2.5, -0.3]))
    angle = frame.angle(seen[:, sensed])
    assert frame.turned(frame.turned(seen, angle), -angle) == pytest.approx(seen, abs=1e-12)
    windows = np.stack((seen, seen + 0.1), axis=1)
    assert frame.turned(windows, angle)[:, 1] == pytest.approx(frame.turned(windows[:, 1], angle), abs=1e-12)


def test_a_robot_without_a_free_base_or_without_an_imu_has_no_heading(ant):
    hopper = load_task("hopper").robot_model
    assert Heading.of(hopper, sensed_columns(hopper, ())) is None
    assert Heading.of(ant, sensed_columns(ant, ("encoders",))) is None
    values = np.ones((2, 12))
    assert Frame.of(hopper, np.arange(12)).shown(values, np.zeros(2)) is values


def test_the_tasks_own_numbers_are_not_looked_at(reacher):
    body = reacher.robot_model
    frame = Frame.of(body, sensed_columns(body, ()))
    assert frame.sensed[frame.looked_at].tolist() == body.spec.robot_dimensions.tolist()
