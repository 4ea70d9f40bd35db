import types

import mujoco
import numpy as np
import pytest
from mujoco.batch import Batch

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.sim import MujocoWorld, RobotModel, SealedRobot
from isthmus.tasks import Task

SECRETS = (MujocoWorld, RobotModel, Task, mujoco.MjModel, mujoco.MjData, mujoco.MjOption, Batch)
FOLLOWED = {"__self__", "__func__", "__wrapped__", "__dict__", "__defaults__", "__kwdefaults__", "__annotations__"}
"""Special names that lead from one object to another. A closure's cells are left out: who opens those is not fooled."""
PLAIN = (str, bytes, int, float, bool, type(None), np.generic, np.dtype, types.ModuleType)


def neighbours(thing):
    """What can be reached from `thing` by plain attribute access, or by looking into a container."""
    if isinstance(thing, np.ndarray):
        return [thing.base]
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, (list, tuple, set)):
        return list(thing)
    names = [name for name in dir(thing) if name in FOLLOWED or not name.startswith("__")]
    names += [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    return [getattr(thing, name) for name in names if hasattr(thing, name)]


def reachable(thing):
    found, rest = [], [thing]
    seen = {}  # keeps what it has seen alive, so that an id stays its own
    while rest:
        one = rest.pop()
        if isinstance(one, (*PLAIN, type)) or id(one) in seen:
            continue
        seen[id(one)] = one
        if isinstance(one, SECRETS):
            found.append(one)
            continue
        assert len(seen) < 5000
        rest += neighbours(one)
    return found


class OpenRobot:
    """A box with a window in it: the bound method gives the world away."""

    def __init__(self, world):
        self._step = world.step


def test_nothing_of_the_world_can_be_reached_through_a_robot(reacher, rng):
    robot = reacher.robot(Gap.parse("tilt=90"), 2)
    assert reachable(robot) == []
    first = robot.reset(rng)
    assert reachable([robot, first, robot.place(first), robot.step(np.ones((2, 2)))]) == []
    assert reachable(OpenRobot(reacher.source())) != []  # the search does find a way where there is one


def test_a_robot_has_the_face_of_a_world_and_nothing_more(reacher):
    public = {name for name in dir(reacher.robot(Gap())) if not name.startswith("_")}
    assert public == {"spec", "n", "reset", "step", "place", "samples"}
    assert not hasattr(reacher.robot(Gap()), "__dict__")


def test_a_robot_does_what_the_world_does(reacher, rng):
    gap = Gap.parse("tilt=45")
    robot, world = reacher.robot(gap, 3), reacher.target(gap, 3)
    assert (robot.n, robot.spec) == (3, world.spec)
    np.testing.assert_array_equal(
        robot.reset(np.random.default_rng(0)), observations := world.reset(np.random.default_rng(0))
    )
    for turn in range(6):
        commands, which = rng.uniform(-2, 2, (3, 2)), None if turn % 2 else np.array([True, False, True])
        seen, expected = robot.step(commands, which), world.step(commands, which)
        np.testing.assert_array_equal(seen.observations, expected.observations)
        np.testing.assert_array_equal(seen.applied, expected.applied)
        np.testing.assert_array_equal(seen.ended, expected.ended)
    which = np.array([False, True, False])
    np.testing.assert_array_equal(
        robot.reset(np.random.default_rng(1), which), world.reset(np.random.default_rng(1), which)
    )
    np.testing.assert_array_equal(robot.place(observations), world.place(observations))


def test_only_robots_that_move_make_samples(reacher, rng):
    robot = reacher.robot(Gap(), 3)
    robot.reset(rng)
    assert robot.samples == 0
    commands = np.zeros((3, 2))
    robot.step(commands)
    assert robot.samples == 3
    robot.step(commands, np.array([True, False, False]))
    assert robot.samples == 4
    robot.step(commands, np.zeros(3, np.bool_))
    assert robot.samples == 4
    robot.place(robot.reset(rng, np.array([True, True, False])))
    assert robot.samples == 4


def test_a_robot_that_has_ended_makes_no_samples_until_it_is_reset(fragile, rng):
    robot = SealedRobot(MujocoWorld(fragile, 2))
    start = robot.reset(rng)
    commands = np.array([[1.0, 0.0], [0.0, 0.0]])
    steps = 1
    while not robot.step(commands).ended[0]:
        steps += 1
    assert robot.samples == 2 * steps
    robot.step(commands)
    assert robot.samples == 2 * steps + 1
    robot.step(commands, np.array([True, False]))
    assert robot.samples == 2 * steps + 1
    robot.reset(rng, np.array([True, False]))
    robot.step(commands)
    assert robot.samples == 2 * steps + 3
    while not robot.step(commands).ended[0]:
        pass
    before = robot.samples
    robot.place(start)
    robot.step(commands)
    assert robot.samples == before + 2


class RealRobot:
    """A world that nobody can put into a state."""

    def __init__(self, world):
        self.spec, self.n = world.spec, world.n
        self.reset, self.step = world.reset, world.step


def test_a_robot_that_cannot_be_placed_says_so(make_linear_world, rng):
    robot = SealedRobot(RealRobot(make_linear_world(1)))
    first = robot.reset(rng)
    assert robot.step(np.zeros((1, 2))).observations.shape == first.shape
    with pytest.raises(Problem, match="cannot be put into a state"):
        robot.place(first)


def test_a_command_that_is_refused_makes_no_sample(reacher, rng):
    robot = reacher.robot(Gap())
    robot.reset(rng)
    with pytest.raises(ValueError, match="not finite"):
        robot.step(np.full((1, 2), np.nan))
    assert robot.samples == 0


def test_limits_cannot_be_changed_through_a_robot(reacher):
    with pytest.raises(ValueError, match="read-only"):
        reacher.robot(Gap()).spec.action_high[:] = reacher.robot_model.spec.action_high
