from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt.auto.perturbed_world import PerturbedWorld
from isthmus.adapt.auto.replay import LONGEST, can_replay, replay_errors, surely_nearer
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.response import Response
from isthmus.adapt.method import Perturbation
from isthmus.core import Trajectory, act, rollout, stream
from isthmus.core.history import HistoryBuffer
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.robots import load_task

TASK = load_task("hopper")
EXPERT = load_expert(TASK)
SPEC = TASK.robot_model.spec


def recorded(gap, explore=None, n=4, steps=60, seed=0):
    """Runs on a target, and what the expert would have done at each of their states."""
    robot = TASK.target(Gap.parse(gap), n)
    start = robot.reset(stream(seed))
    moments = list(rollout(robot, EXPERT, start, steps=steps, explore=explore))
    return [run_of(moments, start, world) for world in range(n)]


def run_of(moments, start, world):
    kept = [one for one in moments if one.running[world]]
    seen = np.stack([start[world], *(one.step.observations[world] for one in kept)])
    asked = np.stack([one.commands[world] for one in kept])
    buffer = HistoryBuffer(SPEC, len(asked), 1)
    buffer.begin(seen[:-1])
    source, _ = act(EXPERT, buffer.window)
    applied = np.stack([one.step.applied[world] for one in kept])
    return Trajectory(seen, asked, applied, source, seen[1:])


def errors_in(gap, runs):
    return replay_errors(TASK.target(Gap.parse(gap), len(runs)), EXPERT, runs, SPEC.targets)


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_run_comes_to_the_same_where_it_was_recorded(interrupted):
    rng = np.random.default_rng(0)
    explore = (lambda commands: commands + rng.normal(0.0, 0.1, commands.shape)) if interrupted else None
    runs = recorded("gravity=0.9", explore)
    # The robot's own velocities beyond the limit of what is observed are all that a restart does not know.
    np.testing.assert_allclose(errors_in("gravity=0.9", runs), 0.0, atol=1e-3)
    assert (errors_in("none", runs) > 0.01).all()


def test_the_farther_the_simulation_is_off_the_larger_is_the_error():
    runs = recorded("gravity=0.7")
    errors = [errors_in(f"gravity={factor}", runs).mean() for factor in (0.75, 0.9, 1.1)]
    assert errors == sorted(errors)


def test_runs_of_different_lengths_count_for_as_long_as_they_are():
    runs = recorded("gravity=0.9")
    short = Trajectory(*(array[: 20 + extra] for array, extra in zip(arrays(runs[0]), (1, 0, 0, 0, 0), strict=True)))
    there = errors_in("gravity=0.9", [short, *runs[1:]])
    np.testing.assert_allclose(there, 0.0, atol=1e-3)


def test_long_runs_are_done_again_in_part():
    runs = recorded("none", steps=LONGEST + 30)
    assert max(map(len, runs)) > LONGEST
    np.testing.assert_allclose(errors_in("none", runs), 0.0, atol=1e-3)


def arrays(run):
    return run.observations, run.commands, run.applied, run.source, run.wanted


def test_who_is_nearer_is_said_only_where_it_is_sure():
    near, far = np.array([0.1, 0.2, 0.1, 0.3]), np.array([0.5, 0.6, 0.4, 0.9])
    assert surely_nearer(near, far, 2.0)
    assert not surely_nearer(far, near, 2.0)
    assert not surely_nearer(near, near + np.array([0.5, -0.4, 0.3, -0.3]), 2.0)


def test_too_few_runs_or_actions_of_another_kind_say_nothing():
    runs = recorded("none", steps=5)
    assert can_replay(runs)
    assert not can_replay(runs[:2])
    other = replace(runs[0], source=runs[0].source[:, :1])
    assert not can_replay([*runs, other])


def test_a_perturbed_world_that_is_placed_begins_anew_there():
    """As after a reset: with no command of before among what its response looks at, and nothing on its way."""
    response = Response.plain(SPEC, AR1Disturbance.none(SPEC.action_size))
    weights = np.zeros((len(response.weights) + SPEC.action_size, SPEC.action_size))
    weights[-SPEC.action_size :] = 0.4 * np.eye(SPEC.action_size)  # a part of the command before is felt too
    perturbation = Perturbation(replace(response, weights=weights), np.zeros(SPEC.observation_size))

    def world():
        return PerturbedWorld(TASK.source(2), perturbation, stream(0), delay=1)

    fresh, used = world(), world()
    start = fresh.reset(stream(1))
    used.reset(stream(2))
    for _ in range(3):
        used.step(np.full((2, SPEC.action_size), 0.7))
    commands = np.full((2, SPEC.action_size), 0.3)
    one, other = fresh.place(start), used.place(start)
    np.testing.assert_array_equal(one, other)
    for _ in range(3):
        one, other = fresh.step(commands).observations, used.step(commands).observations
    np.testing.assert_array_equal(one, other)
