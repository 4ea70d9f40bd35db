"""One fault, inflicted once on an arm that moves, and what became of it."""

import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import IO, Any, cast

from isthmus.core import Problem

EXERCISE = "isthmus.cli.exercise"
PATIENCE = 60.0
"""Seconds that a controller may take to begin what it is asked for."""


@dataclass(frozen=True)
class Trial:
    """What came of one."""

    hold: float | None
    """Seconds from the fault to when the arm received the hold; None if it was not."""
    rest: float | None
    """Seconds from the fault to when the arm was at rest; None if it was not, or nobody can tell."""
    travel: float
    """How far a joint went after the fault, in rad."""
    peak: float
    """Largest speed of a joint, as a share of its limit, from the first goal on."""
    outside: int
    """Commands outside the limits."""
    goals: int
    """Commands in all."""
    after: int
    """Goals that came after the hold."""
    code: int | None
    """The controller's exit code; None while it runs."""
    said: str
    """Its last words."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {key: round(value, 5) if isinstance(value, float) else value for key, value in asdict(self).items()}


class Controller:
    """A process that exercises the arm, with a terminal of its own; it is loaded, and waits to be let go."""

    def __init__(self, address: str, phase: str, *options: str) -> None:
        """Load it."""
        self._keyboard, terminal = pty.openpty()
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the rest
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", EXERCISE, address, phase, *options],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=self._words,
            start_new_session=True,
        )
        os.close(terminal)

    def go(self) -> None:
        """Let it connect."""
        self.expect("ready")
        os.write(self._keyboard, b"\n")

    def expect(self, word: str) -> None:
        """Wait until it says so."""
        said = cast("IO[bytes]", self._process.stdout)
        end = time.monotonic() + PATIENCE
        while (line := said.readline().decode().strip()) != word:
            if (not line and self._process.poll() is not None) or time.monotonic() > end:
                raise Problem(f"the controller did not come to {word!r}: {self.words() or 'it said nothing'}")

    def press(self, key: bytes) -> None:
        """Press a key."""
        os.write(self._keyboard, key)

    def kill(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, seconds: float) -> int | None:
        """Its exit code, if it ends within so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def words(self) -> str:
        """The last line that it said."""
        self._words.seek(0)
        texts = self._words.read().decode(errors="replace").strip().splitlines()
        return texts[-1] if texts else ""

    def close(self) -> None:
        """End it, whatever state it is in."""
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._words.close()
        os.close(self._keyboard)


def inflict(
    way: str, controller: Controller, robot: "subprocess.Popen[bytes]", publish_stop: Callable[[], None]
) -> float:
    """Make it go wrong; returns when."""
    whom, _, number = way.partition(" ")
    now = time.time()
    if way == "key":
        controller.press(b" ")
    elif way == "topic":
        publish_stop()
    elif whom == "controller":
        controller.kill(signal.Signals[number])
    elif whom == "robot":
        robot.send_signal(signal.Signals[number])
    return now
