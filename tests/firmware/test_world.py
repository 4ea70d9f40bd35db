"""Robots with firmware as a World."""

import numpy as np
import pytest

from isthmus.core import Problem, World
from isthmus.firmware.board import load_board
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.world import FirmwareWorld, firmware_of
from isthmus.robots import load_task


@pytest.fixture
def world(program):
    board, made = load_board(FOLDER / "leg.toml"), []

    def build(n: int, **faults: float) -> FirmwareWorld:
        task = load_task("leg-squat")
        made.append(
            FirmwareWorld(task.robot_model, board, firmware_of(board), n, {f"*.{k}": v for k, v in faults.items()})
        )
        return made[-1]

    yield build
    for one in made:
        one.close()


def height(world: FirmwareWorld, steps: int = 12) -> np.ndarray:
    """Of each robot after some steps of the task's policy."""
    task = load_task("leg-squat")
    from isthmus.core import History

    seen = world.reset(np.random.default_rng(0))
    for _ in range(steps):
        seen = world.step(task.policy(History.of(seen))).observations
    return seen[:, 0]


def test_it_is_a_world_and_its_clock_goes_on(world):
    robots = world(2)
    assert isinstance(robots, World)
    seen = robots.reset(np.random.default_rng(1))
    step = robots.step(np.zeros((2, 3)))
    np.testing.assert_allclose(step.observations[:, 8] - seen[:, 8], 0.02)
    assert not step.ended.any()


def test_same_seed_same_course_and_weak_motors_sag(world):
    strong, again, weak = height(world(2)), height(world(2)), height(world(2, strength=0.8))
    np.testing.assert_array_equal(strong, again)
    assert (weak < strong - 1e-3).all()


def test_robots_that_are_not_asked_stay(world):
    robots = world(2)
    robots.reset(np.random.default_rng(1))
    before = robots.fields["qpos"].copy()
    robots.step(np.full((2, 3), 0.1), np.array([True, False]))
    assert (robots.fields["qpos"][0] != before[0]).any()
    np.testing.assert_array_equal(robots.fields["qpos"][1], before[1])


def test_a_task_of_another_robot_is_refused(program):
    board = load_board(FOLDER / "leg.toml")
    with pytest.raises(Problem, match="period"):
        FirmwareWorld(load_task("hopper").robot_model, board, firmware_of(board), 1)
