"""`python -m isthmus.cli.exercise`: moves an arm back and forth, protected as in a transfer, to try the protection out.

It says on standard output how far it is, and waits for a line on standard input before it connects.
"""

import argparse
import signal
import sys
from itertools import count

import numpy as np

from isthmus.cli.attended_robot import attended_robot, tell
from isthmus.core import Problem
from isthmus.hardware import SafetySettings
from isthmus.hardware.address import parse_address
from isthmus.robots import load_task
from isthmus.robots.fetch.arm import HOME
from isthmus.robots.fetch.task import ARM, SwingPolicy, at_start, courses
from isthmus.transfer.events import Glimpse
from isthmus.transfer.targets.robot import Attended, RobotTarget

ASIDE = 0.6
"""Radians to each side of home, of a move."""
SWINGS = (2, 101, 106, 108)
"""Fast ones of every shape. Not number 0: its period is that of the first stand-in's upper arm, which answers with 1.06
times its speed limit to a command of 0.8."""
SWING, MOVE = "swing", "move"


def main() -> int:
    """Swing, or move from place to place, until something ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("phase", choices=(SWING, MOVE))
    parser.add_argument("--begin", type=int, default=0, help="which swing comes first, and to which side a move goes")
    given = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # it is to be tried out, though all of this be run by nohup
    task, address = load_task("fetch-swing"), parse_address(given.address)
    courses()
    _say("ready")
    sys.stdin.readline()
    attended = Attended(look=_look, tell=tell)
    try:
        with attended_robot(address, 1.0, attended.stop):
            target = RobotTarget(task, address, 1, SafetySettings(), attended)
            try:
                _exercise(target, given.phase, given.begin)
            finally:
                target.close()
    except Problem as problem:
        tell(f"isthmus: {problem}")
        return 2
    return 0


def _exercise(target: RobotTarget, phase: str, begin: int) -> None:
    for number in count(begin):
        if phase == SWING:
            swing = float(SWINGS[number % len(SWINGS)])
            target.watched(SwingPolicy(), 1, at_start(np.array([swing]))[0])
        else:
            start = at_start(np.array([0.0]))[0]
            start[:ARM] = HOME + (ASIDE if number % 2 else -ASIDE)
            _say(MOVE)
            target.move_to(start)


def _look(glimpse: Glimpse) -> None:
    if glimpse.steps == 0:
        _say(SWING)


def _say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
