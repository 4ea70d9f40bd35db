import numpy as np
import pytest

from isthmus.core import History, Trajectory, stream
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sysid.delay import LONGEST_DELAY, estimate_delay, shift_by_delay

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
