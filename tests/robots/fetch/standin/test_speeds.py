"""How fast the arm's joints become when commands are held to their limits."""

import numpy as np
import pytest

from isthmus.hardware import Guard, Limits, SafetySettings
from isthmus.robots.fetch.arm import HOME, REACH, SPEED_LIMITS
from isthmus.robots.fetch.standin.machine import Machine
from isthmus.robots.fetch.standin.parameters import load_parameters
from isthmus.robots.fetch.swings import PERIOD, STEPS, swing

WINDOW = 20
"""Milliseconds over which a speed is measured: play in the gears makes shorter peaks, within the play."""
RESONANT = 0
"""The swing whose period is that of the upper arm: the fastest joint of all swings is its."""


def peak_speed(pull):
    """The largest speed of a joint in the swing, as a share of its limit."""
    machine = Machine(load_parameters("first"))
    guard = Guard(Limits.of_positions(-REACH, REACH, SPEED_LIMITS, PERIOD, SafetySettings(pull=pull)))
    last, seen = HOME, [machine.positions]
    for wanted in swing(RESONANT)(PERIOD * np.arange(1, STEPS + 1)):
        last = guard.admit(wanted, last, machine.measured().positions)
        machine.command([(PERIOD, last)])
        for _ in range(round(1e3 * PERIOD)):
            machine.tick()
            seen.append(machine.positions)
    course = np.array(seen)
    speeds = np.abs(course[WINDOW:] - course[:-WINDOW]) / (1e-3 * WINDOW)
    return float((speeds / SPEED_LIMITS).max())


@pytest.mark.parametrize(("pull", "within"), [(SafetySettings().pull, True), (SafetySettings().lead, False)])
def test_it_is_the_pull_that_keeps_a_resonant_swing_within_the_speed_limits(pull, within):
    assert (peak_speed(pull) <= 1.0) is within
