"""The stage between sensors and observation. `test_world_contract.py` puts worlds with one to the general contract."""

import dataclasses
import warnings
from contextlib import closing

import gymnasium
import numpy as np
import pytest

from isthmus.evaluate import evaluate
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.sim import MujocoWorld
from isthmus.sim.environment import Environment
from isthmus.sim.gymnasium_world import GymnasiumWorld

OFFSET = 0.25


class Recording:
    """Adds an offset, and keeps what it was given."""

    def __init__(self, n):
        self.n, self.begun, self.stepped = n, [], []

    def begin(self, sensed, rows):
        self.begun.append((sensed.copy(), np.arange(self.n)[rows]))
        return sensed + OFFSET

    def __call__(self, sensed, applied, rows):
        self.stepped.append((sensed.copy(), applied.copy(), np.arange(self.n)[rows]))
        return sensed + OFFSET


@pytest.fixture
def noisy(reacher):
    return Gap.parse("sensor-bias=0.02").resolve(reacher.robot_model.model)


def worlds(reacher, gap, n):
    """The same robots with an estimator and without."""
    estimator = Recording(n)
    body = reacher.robot_model
    return estimator, *(
        MujocoWorld(body, n, sensors=gap.sensor_channel(body.spec, n), estimator=one) for one in (estimator, None)
    )


def test_it_is_given_what_the_sensors_show_and_what_was_applied(reacher, noisy, rng):
    estimator, world, plain = worlds(reacher, noisy, 3)
    starts = [one.reset(np.random.default_rng(4)) for one in (world, plain)]
    np.testing.assert_array_equal(starts[0], starts[1] + OFFSET)
    np.testing.assert_array_equal(estimator.begun[-1][0], starts[1])
    commands = rng.uniform(-3, 3, (3, 2))
    which = np.array([True, False, True])
    seen, sensed = world.step(commands, which), plain.step(commands, which)
    np.testing.assert_array_equal(seen.observations, sensed.observations + OFFSET)
    given, applied, rows = estimator.stepped[-1]
    np.testing.assert_array_equal(given, sensed.observations[which])
    np.testing.assert_array_equal(applied, np.clip(commands, -1, 1)[which])
    np.testing.assert_array_equal(rows, [0, 2])


def test_only_what_starts_anew_is_begun(reacher, noisy, rng):
    estimator, world, _ = worlds(reacher, noisy, 3)
    before = world.reset(rng)
    after = world.reset(rng, np.array([False, True, False]))
    np.testing.assert_array_equal(estimator.begun[-1][1], [1])
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    world.place(before)
    np.testing.assert_array_equal(estimator.begun[-1][1], [0, 1, 2])


def test_predictions_and_scores_know_nothing_of_it(reacher, rng):
    estimated = dataclasses.replace(reacher, estimator=Recording)
    gap = Gap.parse("tilt=30")
    scores = [
        evaluate(task, task.target(gap, 4), ZeroPolicy(2), 1, np.random.default_rng(1)).scores
        for task in (reacher, estimated)
    ]
    np.testing.assert_array_equal(*scores)


def test_adaptation_and_evaluation_see_the_estimate_and_the_source_does_not(reacher):
    estimated = dataclasses.replace(reacher, estimator=Recording)
    gap = Gap.parse("tilt=30")

    def first(make):
        return [make(task).reset(np.random.default_rng(2)) for task in (reacher, estimated)]

    for make in (lambda task: task.target(gap, 2), lambda task: task.robot(gap, 2)):
        plain, seen = first(make)
        np.testing.assert_array_equal(seen, plain + OFFSET)
    np.testing.assert_array_equal(*first(lambda task: task.source(2)))


def test_an_environment_is_estimated_too_but_guarded_by_what_it_shows(reacher, rng):
    estimator = Recording(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = gymnasium.make(reacher.gym_id)
    with closing(GymnasiumWorld(Environment(env), reacher.robot_model.spec, estimator=estimator)) as world:
        seen = world.reset(rng)
        np.testing.assert_array_equal(seen, world.sensed + OFFSET)
        step = world.step(np.array([[0.3, -4.0]]))
        np.testing.assert_array_equal(step.observations, world.sensed + OFFSET)
        np.testing.assert_array_equal(estimator.stepped[-1][1], [[0.3, -1.0]])
        np.testing.assert_array_equal(world.observations, step.observations)
