"""The check of the limits is itself checked: a log with a command that breaks one must be found out."""

import json

import numpy as np
import pytest

from isthmus.experiments.faults.flight import Flight
from isthmus.robots.fetch.arm import HOME, JOINTS, SPEED_LIMITS

STEP = 0.1 * SPEED_LIMITS


def write(path, goals, holds=(), moving_until=5.0):
    lines = [{"at": at, "kind": "goal", "stamp": at, "names": JOINTS, "points": points} for at, points in goals]
    lines += [{"at": at, "kind": "hold"} for at in holds]
    for number in range(100):
        at = 0.1 * number
        speeds = (0.5 if at < moving_until else 0.0) * SPEED_LIMITS
        positions = HOME + 0.01 * min(at, moving_until)
        state = {"positions": positions.tolist(), "speeds": speeds.tolist(), "fastest": 0.5}
        lines.append({"at": at, "kind": "state", **state})
    lines.sort(key=lambda line: line["at"])
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"at": 10, "ki')
    return Flight.read(path, 0.0)


def course(*steps):
    """Goals a tenth of a second apart, by so many steps at the speed limit each."""
    return [(1.0 + 0.1 * k, [(0.1, (HOME + STEP * total).tolist())]) for k, total in enumerate(np.cumsum(steps))]


def test_commands_within_the_limits_are_fine(tmp_path):
    flight = write(tmp_path / "log", course(0.5, 0.8, 0.8, -0.5))
    assert flight.outside() == []
    assert flight.peak == 0.5


@pytest.mark.parametrize(
    ("goals", "broken"),
    [
        (course(0.5, 1.2), ["step"]),
        (course(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9), ["lead"] * 3),
        ([(1.0, [(0.1, (HOME + 3.0).tolist())])], ["range", "lead"]),
        ([(1.0, [(0.1, HOME.tolist()), (0.2, (HOME + 1.5 * STEP).tolist())])], ["step"]),
    ],
)
def test_a_command_outside_a_limit_is_found(tmp_path, goals, broken):
    assert write(tmp_path / "log", goals).outside() == broken


def test_rest_and_travel_are_counted_from_the_fault(tmp_path):
    flight = write(tmp_path / "log", [], holds=(3.0,))
    assert flight.holds == [3.0]
    assert flight.at_rest(2.0) == pytest.approx(5.0)
    assert flight.travel(2.0) == pytest.approx(0.03)
    assert write(tmp_path / "log", [], moving_until=20.0).at_rest(2.0) is None
