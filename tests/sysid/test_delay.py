from dataclasses import replace

import numpy as np
import pytest

from isthmus.core import History, Trajectory, stream
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid.delay import LONGEST_DELAY, _nll, estimate_delay, shift_by_delay

TASK = load_task("reacher")
SIMULATOR = TASK.unclamped(4)


def recorded(gap, seed, steps=25):
    robot, rng = TASK.target(Gap.parse(gap), 1), stream(seed)
    seen, commands = [robot.reset(rng)], rng.uniform(-0.7, 0.7, (steps, 2))
    seen += [robot.step(command[None]).observations for command in commands]
    seen = np.concatenate(seen)
    return [Trajectory(seen, commands, commands, commands, seen[1:])]


def episodes(gap, count=8):
    return [recorded(gap, seed) for seed in range(count)]


@pytest.mark.parametrize("late", range(LONGEST_DELAY + 1))
@pytest.mark.parametrize("beside", ["", "tilt=60,", "torque-scale=0.6,", "motor-noise=0.2,"])
def test_it_is_told_whatever_else_is_wrong(late, beside):
    assert estimate_delay(episodes(f"{beside}delay={late}"), SIMULATOR) == late


@pytest.mark.parametrize("gap", ["tilt=90", "backlash=0.3", "armature=3", "damping=3", "motor-noise=0.5", "mass=2"])
def test_what_is_wrong_and_on_time_is_not_late(gap):
    assert estimate_delay(episodes(gap), SIMULATOR) == 0


def test_late_to_be_seen_is_late_all_the_same():
    assert estimate_delay(episodes("sensor-delay=2"), SIMULATOR) == 2


def test_with_nothing_to_tell_from_nothing_is_late():
    assert estimate_delay([], SIMULATOR) == 0
    assert estimate_delay([recorded("delay=2", 0, steps=1)], SIMULATOR) == 0


@pytest.mark.parametrize("late", [1, 3])
def test_once_recorded_where_they_took_effect_commands_lead_where_the_simulator_says(late):
    (one,) = shift_by_delay(recorded(f"delay={late}", 0), late)
    predicted = SIMULATOR.predict(History.of(one.observations[:-1]), one.applied)
    np.testing.assert_allclose(predicted, one.observations[1:], atol=1e-6)
    np.testing.assert_array_equal(one.applied[:late], 0.0)


def test_what_is_on_time_stays_as_it_is():
    episode = recorded("none", 0)
    assert shift_by_delay(episode, 0) is episode


class Integrator:
    """A simulator whose mathematics is known: o' = o + a. Its actions have a half range of 3."""

    def __init__(self):
        self.spec = replace(
            SIMULATOR.spec,
            observation_names=("x", "y"),
            action_low=np.full(2, -3.0),
            action_high=np.full(2, 3.0),
            targets=np.arange(2),
        )

    def predict(self, history, actions):
        return history.current + actions


def integrated(steps, delay, noise, seed=0):
    """An episode of the integrator whose commands are late, disturbed by noise."""
    rng = np.random.default_rng(seed)
    commands = rng.uniform(-3, 3, (steps, 2))
    late = np.concatenate((np.zeros((delay, 2)), commands))[:steps]
    seen = np.concatenate((np.zeros((1, 2)), np.cumsum(late + noise * rng.standard_normal((steps, 2)), axis=0)))
    return [[Trajectory(seen, commands, commands, commands, seen[1:])]]


@pytest.mark.parametrize(("steps", "found"), [(40, 0), (300, 2)])
def test_a_delay_is_reported_only_where_the_gain_is_four_standard_errors(steps, found):
    """At the right delay a step is more likely by half a nat, with a deviation of 1.3: 40 steps are too few."""
    assert estimate_delay(integrated(steps, 2, noise=2.2), Integrator()) == found
    assert estimate_delay(integrated(steps, 2, noise=0.1), Integrator()) == 2
    assert estimate_delay(integrated(steps, 0, noise=2.2), Integrator()) == 0


@pytest.mark.parametrize(("noise", "found"), [(4.0, 2), (5.5, 0)])
def test_a_delay_must_make_a_step_a_tenth_of_a_nat_more_likely(noise, found, monkeypatch):
    """Over 3000 steps both gains are sure, but the one under more noise is small."""
    monkeypatch.setattr("isthmus.sysid.delay.MOST_STEPS", 3000)
    assert estimate_delay(integrated(3000, 2, noise), Integrator()) == found


class Squarer(Integrator):
    """o' = o + a^2, in which no straight line finds the command."""

    def predict(self, history, actions):
        return history.current + np.square(actions)


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_it_is_the_simulator_that_tells_which_command_took_effect(delay):
    rng = np.random.default_rng(delay)
    commands = rng.uniform(-3, 3, (120, 2))
    late = np.concatenate((np.zeros((delay, 2)), commands))[:120]
    seen = np.concatenate((np.zeros((1, 2)), np.cumsum(np.square(late) + 0.1 * rng.standard_normal((120, 2)), axis=0)))
    episode = [Trajectory(seen, commands, commands, commands, seen[1:])]
    assert estimate_delay([episode], Squarer()) == delay


def test_errors_are_as_unlikely_as_under_a_cauchy_distribution_of_their_median_size():
    errors = np.array([[1.0, 0.0], [-2.0, 0.0], [3.0, 1e-5]])
    typical = np.array([2.0, 1e-4])  # the second is trusted no more than so
    np.testing.assert_allclose(_nll(errors), (np.log(typical) + np.log(1 + (errors / typical) ** 2)).sum(axis=1))
