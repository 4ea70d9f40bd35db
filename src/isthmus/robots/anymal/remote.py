"""ANYmals in another process, of which nothing is known but what their sensors show."""

import subprocess
import sys
from types import TracebackType
from typing import BinaryIO, cast

import numpy as np

from isthmus.core import Bool, Float, Problem
from isthmus.robots.anymal.wire import receive, send

STANDIN = "isthmus.robots.anymal.standin"
"""Started by this name, and imported by nobody."""


class RemoteAnymals:
    """n robots of one kind, behind a pipe; used in a `with` block."""

    def __init__(self, robot: str, n: int, seed: int = 0) -> None:
        """Start them."""
        command = [sys.executable, "-m", STANDIN, "--robot", robot, "--n", str(n), "--seed", str(seed)]
        self.n = n
        self.log: list[dict[str, Float]] | None = None
        """Set to a list, it gets every step: `targets` (n, 12), and what the joints measured at 400 Hz during it,
        `position`, `velocity` and `torque` (8, n, 12)."""
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._to = cast("BinaryIO", self._process.stdin)
        self._from = cast("BinaryIO", self._process.stdout)

    def __enter__(self) -> "RemoteAnymals":
        """Nothing more to do: they are running."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Switch them off."""
        self.close()

    def close(self) -> None:
        """Switch them off."""
        for pipe in (self._to, self._from):
            pipe.close()
        self._process.wait(timeout=30)

    def reset(self, commands: Float) -> Float:
        """Start new walks under commanded speeds (n,), in m/s; returns observations (n, obs)."""
        return self._ask("reset", {"commands": commands})["observations"]

    def step(self, targets: Float, kicks: Float | None = None) -> tuple[Float, Bool]:
        """Hold joint targets (n, 12) for a control period, after kicks (n, 2) to the base in m/s.

        Returns observations (n, obs) and which robots have fallen (n,): those stay where they are.
        """
        wanted = {"targets": targets} if kicks is None else {"targets": targets, "kicks": kicks}
        answer = self._ask("step", wanted, log=float(self.log is not None))
        if self.log is not None:
            self.log.append({"targets": targets, **answer})
        return answer["observations"], answer["ended"] > 0

    def play(self, targets: Float, hung: Bool) -> dict[str, Float]:
        """Follow joint targets (T, n, 12), a sample every 2.5 ms, some robots `hung` (n,) in the air, others pushed.

        Returns measured `position`, `velocity` and `torque` (T, n, 12), and `fresh` (T, n): 1 where a robot that had
        fallen was put up again.
        """
        return self._ask("play", {"targets": targets, "hung": hung.astype(np.float64)})

    def _ask(self, word: str, arrays: dict[str, Float], **numbers: float) -> dict[str, Float]:
        try:
            send(self._to, word, arrays, **numbers)
            answer = receive(self._from)
        except BrokenPipeError:
            answer = None
        if answer is None:
            raise Problem(f"the stand-in ANYmal ended (exit code {self._process.wait(timeout=30)}) when told to {word}")
        return answer[1]
