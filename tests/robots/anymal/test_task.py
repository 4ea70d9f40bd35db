"""Walking at a commanded speed: observation, end, reward, and what a policy sees."""

import mujoco
import numpy as np
import pytest

from isthmus.core import History, stream
from isthmus.robots import load_task
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.task import (
    ANGLES,
    CLOCK,
    COMMAND,
    FASTEST,
    NAMES,
    SIZE,
    SLOWEST,
    SPIN,
    TURN,
    VELOCITY,
    Z,
    into_base,
    measure,
    see_walk,
    speed_kept,
    walking_reward,
)
from isthmus.robots.anymal.trot import trot


@pytest.fixture(scope="module")
def task():
    return load_task("anymal")


def some(n, seed=0):
    """Observations of robots that are anywhere, turned anyhow."""
    seen = np.random.default_rng(seed).normal(size=(n, SIZE))
    seen[:, Z] = 2.0
    seen[:, TURN : TURN + 4] /= np.linalg.norm(seen[:, TURN : TURN + 4], axis=1, keepdims=True)
    return seen


def test_a_simulation_can_be_put_where_an_observation_says(task):
    seen = some(3)
    np.testing.assert_allclose(task.source(3).place(seen), seen)


def test_the_observation_is_named_as_it_is_laid_out():
    assert [NAMES[at] for at in (Z, TURN, ANGLES, CLOCK, COMMAND, VELOCITY, SPIN)] == [
        *("base z", "base qw", "LF_HAA", "clock", "command", "base velocity x", "base spin x"),
    ]
    assert len(NAMES) == SIZE == 37


def test_the_clock_goes_on_and_the_command_stays(task):
    world = task.source(2)
    before = world.reset(stream(0, "start"))
    after = world.step(np.tile(STANCE, (2, 1))).observations
    np.testing.assert_allclose(after[:, CLOCK] - before[:, CLOCK], 0.02)
    np.testing.assert_allclose(after[:, COMMAND], before[:, COMMAND])
    np.testing.assert_allclose(task.go_on(before[0])[CLOCK], after[0, CLOCK])
    predicted = world.predict(History.of(before), np.tile(STANCE, (2, 1)))
    np.testing.assert_allclose(predicted, after, atol=1e-9)


def test_commands_are_drawn_from_the_whole_range(task):
    commands = task.source(200).reset(stream(1, "start"))[:, COMMAND]
    assert SLOWEST <= commands.min() < 0.25
    assert 0.75 < commands.max() <= FASTEST


def test_a_robot_that_lies_or_leans_has_fallen_and_one_that_stands_has_not(task):
    def ended(height, roll):
        qpos = np.zeros((1, 21))
        qpos[0, 2], qpos[0, 3], qpos[0, 4] = height, np.cos(roll / 2), np.sin(roll / 2)
        return bool(task.robot_model.ended({"qpos": qpos})[0])

    assert not ended(0.45, 0.0)
    assert not ended(0.45, 0.9)
    assert ended(0.45, 0.95)
    assert ended(0.24, 0.0)
    assert ended(np.nan, 0.0)


def test_vectors_turn_into_the_frame_of_the_base():
    turned, vector = some(4)[:, TURN : TURN + 4], np.array([0.3, -0.2, 0.5])
    for row, found in zip(turned, into_base(turned, vector), strict=True):
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, row)
        np.testing.assert_allclose(found, matrix.reshape(3, 3).T @ vector, atol=1e-12)


def test_the_forward_speed_is_measured_along_the_robot(task):
    world, seen = task.source(1), some(1)
    seen[0, TURN : TURN + 4] = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # it looks along y
    seen[0, VELOCITY : VELOCITY + 3] = (-0.1, 0.7, 0.2)
    world.place(seen)
    np.testing.assert_allclose(measure(world.fields)[0, :3], (0.7, 0.1, 0.2), atol=1e-12)
    np.testing.assert_allclose(measure(world.fields)[0, 8], seen[0, COMMAND])


def walking(speed, command=0.5, **changes):
    """Measures of one robot that stands as it should, at a speed."""
    one = np.zeros((1, 21))
    one[0, 0], one[0, 8], one[0, 9:] = speed, command, STANCE
    for place, value in changes.items():
        one[0, int(place[1:])] = value
    return one


@pytest.mark.parametrize(("speed", "score"), [(0.5, 1.0), (0.4, 0.8), (0.6, 0.8), (-0.2, 0.0)])
def test_the_score_is_the_share_of_the_speed_that_is_kept(speed, score):
    np.testing.assert_allclose(speed_kept(walking(0), STANCE[None], walking(speed)), score)


def test_the_reward_wants_the_speed_and_prices_turning_swaying_and_torque():
    still, hold = walking(0.5), STANCE[None]
    best = walking_reward(still, hold, still)
    np.testing.assert_allclose(best, 1.6)
    np.testing.assert_allclose(walking_reward(still, hold + 0.1, still), 1.6 - 1e-5 * 12 * 64)
    np.testing.assert_allclose(walking_reward(still, hold, walking(0.3)), 0.6 + np.exp(-1))
    for off in ("_1", "_2", "_3", "_5", "_6"):
        assert walking_reward(still, hold, walking(0.5, **{off: 0.3})) < best


def test_a_policy_sees_itself_the_phase_the_command_and_the_trot(task):
    seen = some(3)
    shown = see_walk(seen)
    assert shown.shape == (3, task.view.size)
    np.testing.assert_allclose(np.linalg.norm(shown[:, :3], axis=1), 1.0)
    np.testing.assert_allclose(shown[:, 9:21], seen[:, ANGLES : ANGLES + 12] - STANCE)
    np.testing.assert_allclose(shown[:, 35], 2 * seen[:, COMMAND])
    np.testing.assert_allclose(shown[:, 36:], trot(seen[:, CLOCK], seen[:, COMMAND]) - STANCE)
    turned = seen.copy()  # about the vertical, with all that is measured in the world
    half = 0.4
    spin = np.array([np.cos(half), 0, 0, np.sin(half)])
    for row in range(3):
        mujoco.mju_mulQuat(turned[row, TURN : TURN + 4], spin, seen[row, TURN : TURN + 4])
        mujoco.mju_rotVecQuat(turned[row, VELOCITY : VELOCITY + 3], seen[row, VELOCITY : VELOCITY + 3], spin)
    np.testing.assert_allclose(see_walk(turned), shown, atol=1e-9)


def test_the_bare_trot_walks_upright_in_the_source_but_too_slowly(task):
    world = task.source(6)
    seen = world.reset(stream(0, "walk"))
    speeds = []
    for _ in range(150):
        step = world.step(task.policy(History.of(seen)))
        seen = step.observations
        speeds.append(into_base(seen[:, TURN : TURN + 4], seen[:, VELOCITY : VELOCITY + 3])[:, 0])
    assert not step.ended.any()
    share = (np.mean(speeds[50:], axis=0) / seen[:, COMMAND]).mean()
    assert 0.3 < share < 0.8
