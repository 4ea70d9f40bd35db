"""Calls a reader on one file after another in a process of its own, under limits, and tells what came of it."""

import gc
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from isthmus.core import Problem

HANG_SECONDS = 10
"""Of computing for one file. The wall clock would judge how busy the machine is."""
ASLEEP_SECONDS = 120
"""A process that waits for something, while none of it is ready to run, hangs too."""
LONGEST_SECONDS = 1800
"""On the wall clock, whatever the process does."""
POLL_SECONDS = 1.0
MEMORY_MB = 1024
ADDRESS_SPACE = 4 << 30
"""Bytes beyond what is taken at the start: so that a defect does not take the machine."""
WATCHED = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "subprocess.Popen",
    "pty.spawn",
    "socket.connect",
    "socket.getaddrinfo",
)

Make = Callable[[int], tuple[str, Path]]
"""The case of a number: its name, and the file, which is written now."""


@dataclass
class Outcome:
    """What came of the cases of a reader."""

    reader: str
    cases: int = 0
    read: int = 0
    refused: int = 0
    crashes: list[str] = field(default_factory=list[str])
    hangs: list[str] = field(default_factory=list[str])
    events: list[str] = field(default_factory=list[str])
    """Code that was run and connections that were tried."""
    not_refused: list[str] = field(default_factory=list[str])
    """Hostile files that were read."""
    peak_mb: int = 0
    slowest_seconds: float = 0.0
    """Of computing, for one file."""
    seconds: float = 0.0
    commit: str = ""
    """Of the code that was tried."""

    @property
    def faults(self) -> int:
        """How many promises were broken."""
        too_large = int(self.peak_mb > MEMORY_MB)
        return len(self.crashes) + len(self.hangs) + len(self.events) + len(self.not_refused) + too_large

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def run(name: str, read: Callable[[Path], object], cases: int, make: Make, *, must_refuse: bool) -> Outcome:
    """Read all cases; a process that hangs or dies is followed by another, from the next case on."""
    outcome, begun, at = Outcome(name), time.monotonic(), 0
    while at < cases:
        at = _process(outcome, read, range(at, cases), make, must_refuse=must_refuse)
    outcome.cases = cases
    outcome.seconds = round(time.monotonic() - begun, 1)
    return outcome


def _process(outcome: Outcome, read: Callable[[Path], object], cases: range, make: Make, *, must_refuse: bool) -> int:
    """Read cases in a new process until one of them ends it; returns the first that is left."""
    receiving, sending = os.pipe()
    sys.stdout.flush()
    # A child that frees a simulator of this process would wait for ever for the simulator's threads: it has none.
    gc.collect()
    gc.freeze()
    child = os.fork()
    if not child:
        os.close(receiving)
        _work(sending, read, cases, make)
    os.close(sending)
    done, hung, current = cases.start, "", ""
    patience = Patience(child)
    for line in _lines(receiving):
        if line is None:
            if hung := patience.verdict():
                os.kill(child, signal.SIGKILL)
                break
            continue
        kind, _, rest = line.partition(" ")
        if kind == "case":
            current, patience = rest, Patience(child)
            continue
        _note(outcome, kind, rest, current, must_refuse=must_refuse)
        done += kind in ("read", "refused", "crash")
    _, status, usage = os.wait4(child, 0)
    os.close(receiving)
    outcome.peak_mb = max(outcome.peak_mb, usage.ru_maxrss >> 10)
    if hung:
        outcome.hangs.append(f"{current}: {hung}")
    elif done < cases.stop:
        outcome.crashes.append(f"{current}: the process ended ({os.waitstatus_to_exitcode(status)})")
    return done + (1 if done < cases.stop else 0)


class Patience:
    """How long a process may take for one file, whatever else the machine does meanwhile."""

    def __init__(self, process: int) -> None:
        """Begin now."""
        self._process, self._begun = process, time.monotonic()
        self._before, _ = self._look()
        self._latest, self._asleep = self._before, 0.0

    def verdict(self) -> str:
        """Why the process hangs, or nothing; to be asked every `POLL_SECONDS`."""
        computed, ready = self._look()
        # Asked late, the asker was starved too: what is counted is how often nothing was ready to run.
        self._asleep = 0.0 if ready or computed > self._latest else self._asleep + POLL_SECONDS
        self._latest = computed
        if computed - self._before >= HANG_SECONDS:
            return f"{computed - self._before:.1f} s of computing"
        if self._asleep >= ASLEEP_SECONDS:
            return f"asleep for {self._asleep:.0f} s"
        waited = time.monotonic() - self._begun
        return f"{waited:.0f} s on the clock" if waited >= LONGEST_SECONDS else ""

    def _look(self) -> tuple[float, bool]:
        """Seconds that the process, its children and those before them have computed; whether any is ready to run."""
        computed, ready, family = 0.0, False, [self._process]
        while family:
            here = Path(f"/proc/{family.pop()}")
            try:
                fields = (here / "stat").read_text().rpartition(")")[2].split()
                family += map(int, (here / "task" / here.name / "children").read_text().split())
            except OSError:  # it has ended, and its parent will count what it computed
                continue
            computed += sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
            ready |= fields[0] == "R"
        return computed, ready


def _note(outcome: Outcome, kind: str, rest: str, current: str, *, must_refuse: bool) -> None:
    if kind in ("read", "refused"):
        outcome.read += kind == "read"
        outcome.refused += kind == "refused"
        outcome.slowest_seconds = max(outcome.slowest_seconds, float(rest))
        if kind == "read" and must_refuse:
            outcome.not_refused.append(current)
    elif kind == "crash":
        outcome.crashes.append(f"{current}: {rest}")
    elif kind == "event":
        outcome.events.append(f"{current}: {rest}")


def _lines(handle: int) -> Iterator[str | None]:
    """Lines that the process writes; None when it has not written any for a while."""
    rest = b""
    while True:
        ready, _, _ = select.select([handle], [], [], POLL_SECONDS)
        if not ready:
            yield None
            continue
        chunk = os.read(handle, 1 << 16)
        if not chunk:
            return
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode()


def _work(handle: int, read: Callable[[Path], object], cases: range, make: Make) -> None:
    """Read the cases and tell of each."""

    def tell(text: str) -> None:
        os.write(handle, " ".join(text.split()).encode()[:2000] + b"\n")

    reading = False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if reading and event in WATCHED:
            tell(f"event {event} {str(arguments)[:200]}")

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ADDRESS_SPACE, taken + ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(watch)
    try:
        for number in cases:
            name, path = make(number)
            tell(f"case {name}")
            begun, reading = sum(os.times()[:4]), True
            told = _read(read, path)
            reading = False
            tell(told if told.startswith("crash") else f"{told} {sum(os.times()[:4]) - begun:.3f}")
    finally:
        os._exit(0)


def _read(read: Callable[[Path], object], path: Path) -> str:
    try:
        read(path)
    except Problem as problem:
        return "crash a problem of several lines" if "\n" in str(problem) or len(str(problem)) > 1500 else "refused"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"crash {type(error).__name__}: {str(error)[:200]} ({Path(where.filename).name}:{where.lineno})"
    return "read"
