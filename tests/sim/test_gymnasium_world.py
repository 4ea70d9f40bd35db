"""A user's environment is a world like any other."""

import warnings
from contextlib import closing

import gymnasium
import numpy as np
import pytest

from isthmus.adapt.settings import CollectSettings
from isthmus.core import Problem, World, stream
from isthmus.experts import load_expert
from isthmus.policies import Unadapted
from isthmus.robots import load_task
from isthmus.sim import SealedRobot
from isthmus.sim.environment import Environment
from isthmus.sim.gymnasium_world import GymnasiumWorld
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale

TASK = load_task("reacher")
SPEC = TASK.robot_model.spec


@pytest.fixture
def world():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(TASK.gym_id)
    world = GymnasiumWorld(Environment(env), SPEC)
    yield world
    world.close()


def test_it_is_a_world(world):
    assert isinstance(world, World)
    seen = world.reset(stream(0))
    assert seen.shape == (1, 11)
    step = world.step(np.full((1, 2), 5.0))
    np.testing.assert_array_equal(step.applied, [[1.0, 1.0]])
    assert step.observations.shape == (1, 11)
    assert not hasattr(step, "reward")


def test_the_same_stream_gives_the_same_episode(world):
    def episode():
        seen = [world.reset(stream(1))]
        seen += [world.step(np.full((1, 2), 0.1)).observations for _ in range(5)]
        return np.concatenate(seen)

    np.testing.assert_array_equal(episode(), episode())


def test_an_episode_ends_at_the_environments_time_limit_and_stays_there(world):
    world.reset(stream(0))
    steps = [world.step(np.zeros((1, 2))) for _ in range(52)]
    assert [step.ended[0] for step in steps] == [False] * 49 + [True] * 3
    np.testing.assert_array_equal(steps[49].observations, steps[51].observations)


def test_target_data_is_collected_on_it(world):
    expert = load_expert(TASK)
    robot = SealedRobot(world)
    scale = observation_scale(expert, TASK.source(4), 1, stream(0, "scale"))
    [[run]] = collect(
        robot,
        Unadapted(expert, TASK.source()),
        ReferenceRollout(expert, TASK.source(), 1, scale),
        CollectSettings(drift=np.inf),
        history=1,
        length=20,
        budget=100,
        rng=stream(0, "collect"),
    )
    assert robot.samples == run.samples == 20
    with pytest.raises(Problem, match="cannot be put into a state"):
        robot.place(run.observations[:1])


def test_an_environment_of_another_robot_is_refused():
    with pytest.raises(Problem, match="3 actuators"):
        GymnasiumWorld(Environment(gymnasium.make("Pendulum-v1")), load_task("hopper").robot_model.spec)


def test_an_observation_of_another_size_is_refused_with_what_to_do():
    env = gymnasium.make("Reacher-v5")
    with closing(GymnasiumWorld(Environment(env), SPEC)) as world, pytest.raises(Problem, match="whose observe"):
        world.reset(stream(0))
    padded = Environment(gymnasium.make("Reacher-v5"), observe=lambda seen: np.append(seen, 0.0))
    with closing(GymnasiumWorld(padded, SPEC)) as world:
        assert world.reset(stream(0)).shape == (1, 11)


@pytest.mark.parametrize("command", [np.zeros((2, 2)), np.zeros((1, 3))])
def test_a_command_of_another_shape_is_refused(world, command):
    world.reset(stream(0))
    with pytest.raises(ValueError, match="of shape"):
        world.step(command)


def test_a_command_that_is_not_finite_ends_the_run(world):
    world.reset(stream(0))
    with pytest.raises(Problem, match=r"not finite.*--resume"):
        world.step(np.full((1, 2), np.nan))
    assert world.steps == 0
