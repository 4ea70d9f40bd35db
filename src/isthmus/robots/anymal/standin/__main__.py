"""`python -m isthmus.robots.anymal.standin`: stand-in ANYmals as a process of their own, commanded through a pipe."""

import sys
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import tyro

from isthmus.core import Problem
from isthmus.robots.anymal.standin.machine import Machine
from isthmus.robots.anymal.standin.parameters import load_parameters
from isthmus.robots.anymal.wire import receive, send


@dataclass(frozen=True)
class Arguments:
    """Stand-ins for ANYmals that are commanded on standard input and answer on standard output."""

    robot: str = "first"
    """Which of the robots that were drawn."""
    n: int = 1
    """How many of it."""
    seed: int = 0
    """Decides how they start, and the noise of their sensors."""


def main() -> int:
    """Run until the input ends."""
    given = tyro.cli(Arguments)
    try:
        serve(Machine(given.n, load_parameters(given.robot), given.seed), sys.stdin.buffer, sys.stdout.buffer)
    except Problem as problem:
        sys.stderr.write(f"stand-in: {problem}\n")
        return 2
    return 0


def serve(machine: Machine, commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer `commands` until there are no more."""
    while (message := receive(commands)) is not None:
        word, arrays, numbers = message
        if word == "reset":
            send(answers, "seen", {"observations": machine.reset(arrays["commands"])})
        elif word == "step":
            seen, ended, log = machine.step(arrays["targets"], arrays.get("kicks"))
            said = {"observations": seen, "ended": ended.astype(np.float64)}
            send(answers, "seen", said | log if numbers.get("log") else said)
        elif word == "play":
            send(answers, "log", machine.play(arrays["targets"], arrays["hung"] > 0))
        else:
            raise Problem(f"unknown message {word!r}: send reset, step or play")


if __name__ == "__main__":
    sys.exit(main())
