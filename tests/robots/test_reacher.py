import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.robots.reacher import make_reacher

ARM = ("body0", "body1", "fingertip")


def arm_masses(task):
    model = task.robot_model.model
    return np.array([model.body(name).mass[0] for name in ARM])


def test_the_arm_weighs_what_the_paper_says(reacher):
    assert arm_masses(reacher).sum() == pytest.approx(34.0)


@given(st.floats(1e-3, 1e3))
def test_the_arm_weighs_what_is_asked_in_the_proportions_of_gymnasium(mass):
    masses, gymnasium = arm_masses(make_reacher(mass)), arm_masses(make_reacher(0))
    assert masses.sum() == pytest.approx(mass)
    np.testing.assert_allclose(masses / masses.sum(), gymnasium / gymnasium.sum())


def test_inertia_grows_with_mass():
    one, ten = make_reacher(1).robot_model.model, make_reacher(10).robot_model.model
    for name in ARM:
        np.testing.assert_allclose(ten.body(name).inertia, 10 * one.body(name).inertia)
    assert ten.body("target").mass == one.body("target").mass


def test_gymnasium_s_own_arm_weighs_75_grams():
    assert arm_masses(make_reacher(0)).sum() == pytest.approx(0.075, rel=0.02)


@pytest.mark.parametrize("mass", [-1, -34.0, 1e-4, 1001, np.inf, np.nan])
def test_a_mass_that_makes_no_sense_is_a_problem(mass):
    with pytest.raises(Problem, match="arm-mass must be 0"):
        make_reacher(mass)


def test_episodes_start_as_in_gymnasium(reacher):
    n = 20_000
    qpos, qvel = reacher.robot_model.start(np.random.default_rng(0), n)
    assert qpos.shape == qvel.shape == (n, 4)
    angles, goals, speeds = qpos[:, :2], qpos[:, 2:], qvel[:, :2]
    assert np.abs(angles).max() <= 0.1
    assert np.abs(speeds).max() <= 0.005
    assert (qvel[:, 2:] == 0).all()
    for values, half in ((angles, 0.1), (speeds, 0.005)):  # uniform: mean 0, and a quarter in each quarter
        quarters = np.stack([np.histogram(column, 4, (-half, half))[0] for column in values.T]) / n
        np.testing.assert_allclose(quarters, 0.25, atol=0.015)
    radius = np.linalg.norm(goals, axis=1)
    assert 0.19 < radius.max() <= 0.2
    assert (radius < 0.1).mean() == pytest.approx(0.25, abs=0.015)
    assert (radius < 0.1 * np.sqrt(2)).mean() == pytest.approx(0.5, abs=0.015)
    directions = np.histogram(np.arctan2(goals[:, 1], goals[:, 0]), 8, (-np.pi, np.pi))[0] / n
    np.testing.assert_allclose(directions, 1 / 8, atol=0.015)


STATES = st.tuples(
    st.floats(-20, 20),  # the first joint turns round and round
    st.floats(-3, 3),
    *[st.floats(-0.27, 0.27)] * 2,
    *[st.floats(-50, 50)] * 2,
)


@given(STATES)
def test_a_state_can_be_read_off_its_observation(reacher, state):
    embodiment = reacher.robot_model
    qpos, qvel = np.array([state[:4]]), np.array([[*state[4:], 0.0, 0.0]])
    observation = np.empty((1, 11))
    embodiment.observe({"qpos": qpos, "qvel": qvel, "xpos": np.zeros((1, 5, 3))}, observation)
    found, speeds = np.full((1, 4), np.nan), np.full((1, 4), np.nan)
    embodiment.restore(observation, found, speeds)
    turns = (found[:, :2] - qpos[:, :2]) / (2 * np.pi)
    np.testing.assert_allclose(turns, turns.round(), atol=1e-12)
    np.testing.assert_allclose(found[:, 1], qpos[:, 1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[:, 2:], qpos[:, 2:])
    np.testing.assert_array_equal(speeds, qvel)


@given(STATES)
def test_the_fingertip_is_where_geometry_puts_it(reacher, state):
    angle, bend, x, y, *speeds = state
    where = np.array(
        [0.1 * np.cos(angle) + 0.11 * np.cos(angle + bend), 0.1 * np.sin(angle) + 0.11 * np.sin(angle + bend)]
    )
    angles = np.array([angle, bend])
    world = reacher.source(1)
    observation = np.concatenate((np.cos(angles), np.sin(angles), [x, y], speeds, where - [x, y], [0.0]))
    np.testing.assert_allclose(world.place(observation[None])[0], observation, rtol=0, atol=1e-12)


def test_only_the_reward_counts_torque(reacher):
    away = np.array([[0.3, 0.4, 0.0], [0.0, 0.0, 0.0]])
    commands = np.array([[1.0, -0.5], [0.5, 0.5]])
    np.testing.assert_allclose(reacher.score(away, commands, away), [-0.5, 0.0])
    np.testing.assert_allclose(reacher.reward(away, commands, away), [-1.75, -0.5])
    np.testing.assert_array_equal(reacher.score(away, 0 * commands, away), reacher.score(away, commands, away))


def test_the_score_is_of_where_the_step_began(reacher):
    before, after = np.array([[0.3, 0.4, 0.0]]), np.array([[0.0, 0.0, 0.0]])
    assert reacher.score(before, np.zeros((1, 2)), after) == pytest.approx(-0.5)


def test_every_observation_has_a_name_of_its_own(reacher):
    names = reacher.robot_model.spec.observation_names
    assert len(set(names)) == len(names) == 11
