"""Many trials of one fault."""

import itertools
import signal
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.experiments.faults.flight import Flight
from isthmus.experiments.faults.kinds import BOUNDS, Fault, Phase
from isthmus.experiments.faults.overhear import overhear
from isthmus.experiments.faults.trial import Controller, Trial, inflict
from isthmus.hardware.address import RobotAddress
from isthmus.hardware.processes import Transport, free_address, ros_master, stand_in

WAITS: dict[Phase, tuple[float, float]] = {"swing": (0.5, 2.5), "move": (0.8, 1.3), "connect": (0.0, 0.0)}
"""Seconds from the beginning of a phase to the fault, from and to."""
WATCHED = 1.2
"""Seconds that the arm is watched after the fault; where it is to go on, twice that."""
SETTLED = 0.3
"""And after it was woken up again."""
ENDS = 10.0
"""Seconds that a controller has to end: nothing depends on them, the arm is held by then."""
ALLOWED = 1.0
"""Largest speed of a joint, as a share of its limit."""


@dataclass(frozen=True)
class Row:
    """What came of a fault in one phase."""

    fault: Fault
    phase: Phase
    trials: list[Trial]

    def broken(self, trial: Trial) -> list[str]:
        """The promises that one trial broke."""
        promise, found = self.fault.promise, list[str]()
        bound = BOUNDS.get(promise, 0.0)
        if promise in ("stop", "watchdog", "follow") and (trial.hold is None or trial.hold > bound):
            found.append("hold")
        if promise == "runs out" and (trial.rest is None or trial.rest > bound):
            found.append("rest")
        if promise == "goes on" and trial.hold is not None:
            found.append("held without need")
        if promise == "refused" and trial.goals:
            found.append("moved")
        if self.fault.code is not None and trial.code != self.fault.code:
            found.append("exit code")
        checks = (("limits", trial.outside), ("speed", trial.peak > ALLOWED), ("goal after hold", trial.after))
        return [*found, *(name for name, wrong in checks if wrong)]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "fault": self.fault.name,
            "phase": self.phase,
            "promise": self.fault.promise,
            "bound_s": BOUNDS.get(self.fault.promise),
            "trials": [trial.to_json() | {"broken": self.broken(trial)} for trial in self.trials],
        }


def run_row(fault: Fault, phase: Phase, trials: int, seed: int, transport: Transport = "ros1") -> Row:
    """Inflict `fault` so many times, on a stand-in robot at an address of its own."""
    rng, address = np.random.default_rng((seed, *f"{fault.name} {phase}".encode())), free_address(transport)
    with tempfile.TemporaryDirectory(prefix="isthmus-faults-") as folder, ExitStack() as stack:
        stack.enter_context(ros_master(address))
        bench = _Bench(fault, phase, address, Path(folder) / "flight.jsonl")
        stack.callback(bench.close)
        return Row(fault, phase, [bench.trial(float(rng.uniform(*WAITS[phase]))) for _ in range(trials)])


class _Bench:
    """A robot to be treated badly, and a controller that is loaded for the next trial."""

    def __init__(self, fault: Fault, phase: Phase, address: RobotAddress, log: Path) -> None:
        self._fault, self._phase, self._address, self._log = fault, phase, address, log
        self._overheard = overhear(address)
        self._robot: Any = None
        self._loaded = itertools.count()
        self._next: Controller | None = None

    def close(self) -> None:
        """End all that was started."""
        if self._next is not None:
            self._next.close()
        if self._robot is not None:
            self._robot.__exit__(None, None, None)
        self._overheard.close()

    def trial(self, wait: float) -> Trial:
        """Let the arm move for `wait` seconds, and let it go wrong."""
        controller, self._next = self._next or self._load(), None
        robot, since = self._switched_on(), time.time()
        self._overheard.holds.clear()
        try:
            controller.go()
            if self._phase == "connect":
                code = controller.wait(ENDS)
                return self._judged(controller, since, since, code)
            controller.expect(self._phase)
            time.sleep(wait)
            while self._fault.way == "topic" and not self._overheard.heeded():
                time.sleep(0.01)
            before = len(self._overheard.holds)
            at = inflict(self._fault.way, controller, robot, self._overheard.stop)
            time.sleep(WATCHED * (2 if self._fault.promise == "goes on" else 1))
            code = controller.wait(0.0 if self._fault.code is None else ENDS)
            if self._fault.way == "robot SIGSTOP":
                robot.send_signal(signal.SIGCONT)
                time.sleep(SETTLED)
            del self._overheard.holds[:before]
            return self._judged(controller, since, at, code)
        finally:
            controller.close()
            self._next = self._next or self._load()
            if self._fault.way == "robot SIGUSR1":
                robot.send_signal(signal.SIGUSR2)
            if self._fault.way == "robot SIGKILL":
                self._switch_off()

    def _judged(self, controller: Controller, since: float, at: float, code: int | None) -> Trial:
        flight = Flight.read(self._log, since)
        at = flight.faults[0] if flight.faults else at
        # A robot that is frozen, killed or cut off does not hear it: then it counts when it was on its way.
        cut_off = self._fault.way in ("robot SIGSTOP", "robot SIGKILL") or "--faults.cut" in self._fault.options
        holds = [when for when in (self._overheard.holds if cut_off else flight.holds) if when >= at]
        # And nobody can tell when it came to rest.
        rest = None if self._fault.way in ("robot SIGSTOP", "robot SIGKILL") else flight.at_rest(at)
        return Trial(
            hold=holds[0] - at if holds else None,
            rest=None if rest is None else rest - at,
            travel=flight.travel(at),
            peak=flight.peak,
            outside=len(flight.outside()),
            goals=len(flight.goals),
            after=sum(goal["at"] > holds[0] for goal in flight.goals) if holds and not cut_off else 0,
            code=code,
            said=controller.words(),
        )

    def _switched_on(self) -> Any:  # noqa: ANN401
        if self._robot is None:
            options = ("--log", str(self._log), *self._fault.options)
            self._robot = stand_in(self._address, options=options)
            self._process = self._robot.__enter__()
        return self._process

    def _switch_off(self) -> None:
        self._robot.__exit__(None, None, None)
        self._robot = None

    def _load(self) -> Controller:
        # Another swing each time; and a move to the other side, since the arm is where the last trial left it.
        phase = "swing" if self._phase == "connect" else self._phase
        return Controller(str(self._address), phase, f"--begin={next(self._loaded)}")
