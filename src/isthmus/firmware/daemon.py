"""Run an unmodified Linux program on the simulated robot of a board file."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Float, Problem, stream
from isthmus.firmware.board import Board
from isthmus.firmware.body import Physics
from isthmus.firmware.extensions import compiled_file
from isthmus.firmware.host_link import IsthmusLink, Telemetry
from isthmus.firmware.invariants import Expectation, Violation, judge, limits_of
from isthmus.firmware.motions import MOTIONS, Motion, motion_of
from isthmus.firmware.record import Record
from isthmus.firmware.rig import Rig
from isthmus.firmware.seen import seen_of
from isthmus.firmware.shim_host import Shim

BLIND = (
    "Under the shim computing takes no time and no thread is pre-empted: "
    "data races, missed deadlines and overruns cannot be found this way."
)
START_SECONDS = 100.0
"""CLOCK_MONOTONIC when the program starts, as on a computer that has been up for a while."""
LINK_KNOBS = {"lost_from": 1e9, "lost_to": 1e9, "loss": 0.0, "corrupt": 0.0}
"""What can go wrong on the host link."""
TRACE = 1 << 18
PRINTED = 40
"""Lines of what a program printed that are shown to people; the result has more."""


@dataclass(frozen=True)
class DaemonResult:
    """How a run of a Linux program went."""

    program: str
    board: str
    simulated_s: float
    wall_s: float
    exit_code: int | None
    """None: it still ran when the time was over."""
    violations: tuple[Violation, ...]
    counters: dict[str, int]
    bus_load: dict[str, float]
    """Share of the time that each bus was busy."""
    refused: str
    """The first thing that the program asked for and that is not simulated; empty if there was none."""
    output: str
    """The end of what it printed."""
    events: np.ndarray
    """The trace, oldest first."""
    record: Record

    def to_json(self) -> dict[str, Any]:
        """As JSON, without trace and record."""
        return {
            "program": self.program,
            "board": self.board,
            "simulated_seconds": self.simulated_s,
            "wall_seconds": round(self.wall_s, 3),
            "exit_code": self.exit_code,
            "violations": [violation.to_json() for violation in self.violations],
            "counters": self.counters,
            "bus_load": {name: round(load, 4) for name, load in self.bus_load.items()},
            "refused": self.refused,
            "output": self.output,
            "cannot_find": BLIND,
        }

    def lines(self) -> list[str]:
        """For people."""
        ended = "still running" if self.exit_code is None else f"ended with code {self.exit_code}"
        lines = [f"{self.program} on {self.board}: {self.simulated_s:.3f} s simulated in {self.wall_s:.1f} s, {ended}"]
        lines.append("buses: " + ", ".join(f"{name} {load:.0%}" for name, load in self.bus_load.items()))
        if self.output.strip():
            lines += ["it printed:", *(f"  {line}" for line in self.output.rstrip().splitlines()[-PRINTED:])]
        held = "every invariant held" if self.exit_code is None else "every invariant held until the program ended"
        lines += [f"violated {v.name}: {v.sentence}" for v in self.violations] or [held]
        if self.refused:
            lines.append(f"not simulated: {self.refused}")
        return [*lines, BLIND]


@dataclass(frozen=True)
class Run:
    """What a program is put through."""

    motion: Motion = MOTIONS["stand"]
    expect: Expectation = field(default_factory=Expectation)
    arguments: tuple[str, ...] = ()
    start_s: float = START_SECONDS
    """CLOCK_MONOTONIC at the start."""
    wall_s: float = 10.0
    """Wall seconds that the program may compute between two physics steps."""


def run_daemon(
    program: Path,
    board: Board,
    seconds: float,
    seed: int,
    faults: Mapping[str, float],
    how: Run | None = None,
    *,
    motion: str | None = None,
) -> DaemonResult:
    """Run `program` for some seconds of simulated time, or until it ends; the host asks for the `motion` of a name."""
    how = how or Run(motion_of(motion or "stand"))
    if not board.is_linux:
        raise Problem(f"{board.path} has a [cpu]: it is a board for an ELF of that processor, not for a Linux program")
    if how.motion.frozen:
        raise Problem("a turntable is for emulated boards: give a Linux program another task, such as stand or squat")
    limits, physics = limits_of(board), Physics(board)
    link = _Link(board, seed, faults)
    script = script_of(board, {name: value for name, value in faults.items() if name not in link.knobs})
    steps = round(seconds / physics.step_s)
    with Shim(
        (str(program), *how.arguments),
        script,
        len(board.joints),
        step_seconds=physics.step_s,
        start_seconds=how.start_s,
        seed=seed,
        trace=TRACE,
        wall_seconds=how.wall_s,
        sensors=physics.sense(),
    ) as shim:
        started = time.perf_counter()
        rows = _run(shim, physics, link, how.motion, steps, seed)
        ended, code = len(rows.time) < steps, shim.finish()
        record, now = rows.record(), max(shim.page.now * 1e-9, 1e-9)
        found = judge(seen_of(record, None, board), limits, how.expect) if len(record) and board.joints else []
        busy = {name: shim.page.bus_counters[3 * i + 1] * 1e-9 / now for i, name in enumerate(_bus_order(board))}
        return DaemonResult(
            str(program),
            board.name,
            round(now, 9),
            time.perf_counter() - started,
            code if ended else None,
            (*(_failure(code, now) if ended else ()), *found),
            _counters(shim),
            busy,
            shim.refused,
            shim.output(),
            shim.trace(),
            record,
        )


def _failure(code: int, now: float) -> tuple[Violation, ...]:
    """The violation that a program commits which fails; one that ends with code 0 may have been meant to."""
    if code == 0:
        return ()
    how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return (Violation("exit", now, f"the program {how} at {now:.3f} s", abs(code)),)


def _run(shim: Shim, physics: Physics, link: "_Link", motion: Motion, steps: int, seed: int) -> "_Rows":
    """Step physics and program together until one of them ends."""
    rows, joints = _Rows(), link.joints
    for step in range(steps):
        if not shim.await_step():
            break
        t = step * physics.step_s
        link.receive(shim.take_host(), t)
        measured = shim.joint_arrays(joints)
        physics.step(measured["torques"], motion.force(t, seed))
        shim.sensors[:] = physics.sense()
        rows.add(t + physics.step_s, measured, physics, link)
        shim.send_host(link.due(t + physics.step_s, motion.targets(t + physics.step_s, joints)))
        shim.go_on()
    return rows


def script_of(board: Board, faults: Mapping[str, float]) -> str:
    """What the shim builds its buses and devices from: a line each, and a line for every parameter."""
    rig = Rig(board)
    try:
        rig.set_all(board.faults)
        rig.set_all(faults)
        numbers = [f"set {name} {rig.get(name)!r}" for name in rig.knobs]
    finally:
        rig.close()
    lines = [f"{bus.kind} {bus.name} {bus.rate!r}" for bus in board.buses]
    joint = 0
    for device in board.devices:
        if device.type == "lsm6dsox":
            lines.append(f"lsm6dsox {device.name} {device.on} {device.address}")
        elif device.type == "mit-motor":
            lines.append(f"mit-motor {device.name} {device.on} {device.id} {device.reply_id} {joint}")
        else:
            place = -1 if device.joint is None else joint
            file = compiled_file(board, device.type)
            lines.append(f"file {device.name} {device.on} {device.address} {place} {file}")
        joint += device.joint is not None
    serial = [f"serial /dev/{board.host.link}"] if board.host.link else []
    return "\n".join([*lines, *numbers, *serial, ""])


def _bus_order(board: Board) -> list[str]:
    """The buses in the order in which the shim counts them."""
    return [bus.name for bus in board.buses]


def _counters(shim: Shim) -> dict[str, int]:
    names = ("frames_sent", "frames_received", "frames_dropped", "i2c_transfers", "i2c_errors")
    return {name: int(getattr(shim.page, name)) for name in names}


class _Link:
    """The host: sends targets every period and listens, over a line that may lose bytes."""

    def __init__(self, board: Board, seed: int, faults: Mapping[str, float]) -> None:
        self.joints = len(board.joints)
        name = board.host.link or "host"
        self.knobs = {f"{name}.{knob}": value for knob, value in LINK_KNOBS.items()}
        self.knobs |= {key: float(value) for key, value in {**board.faults, **faults}.items() if key in self.knobs}
        self._name, self._rng = name, stream(seed, "host link")
        self._link = IsthmusLink(self.joints) if board.host.protocol == "isthmus" else None
        self._period, self._next = board.host.period_ms * 1e-3, 0.0
        self.heard: tuple[float, Telemetry] | None = None

    def _knob(self, name: str) -> float:
        return self.knobs[f"{self._name}.{name}"]

    def receive(self, data: bytes, t: float) -> None:
        frames = self._link.decode(data) if self._link and data else []
        if frames:
            self.heard = (t, frames[-1])

    def due(self, t: float, targets: Float) -> bytes:
        """What reaches the program now of what the host sends."""
        if self._link is None or t < self._next - 1e-9:
            return b""
        self._next += self._period
        if self._knob("lost_from") <= t < self._knob("lost_to"):
            return b""
        kept = [byte for byte in self._link.encode(targets) if self._rng.random() >= self._knob("loss")]
        return bytes(
            byte ^ (1 << int(self._rng.integers(8))) if self._rng.random() < self._knob("corrupt") else byte
            for byte in kept
        )


class _Rows:
    """A record as it grows."""

    def __init__(self) -> None:
        self.time: list[float] = []
        self._measured: list[dict[str, Float]] = []
        self._state: list[tuple[Float, Float, Float]] = []
        self._told: list[tuple[float, Telemetry] | None] = []

    def add(self, t: float, measured: dict[str, Float], physics: Physics, link: _Link) -> None:
        self.time.append(t)
        self._measured.append(measured)
        self._state.append(physics.state)
        self._told.append(link.heard)

    def record(self) -> Record:
        """The rows so far; of telemetry NaN before the first frame."""
        count, joints = len(self.time), len(self._measured[0]["torques"]) if self._measured else 0

        def column(name: str) -> Float:
            return np.array([row[name] for row in self._measured]).reshape(count, joints)

        heard = np.full((count, 6 + 2 * joints), np.nan)
        for row, told in zip(heard, self._told, strict=True):
            if told is not None:
                at, frame = told
                row[:] = np.concatenate([[at], frame.attitude, [frame.estop], frame.positions, frame.velocities])
        qpos, qvel, trunk = (
            np.array([state[i] for state in self._state]).reshape(count, -1 if count else 0) for i in range(3)
        )
        torques, asked, command_age, sample_age, gaps = (
            column(name) for name in ("torques", "asked", "command_age", "sample_age", "max_gap")
        )
        return Record(
            time=np.array(self.time),
            instructions=np.zeros(count, np.int64),
            torque=torques,
            asked=asked,
            command_age=command_age,
            sample_age=sample_age,
            command_gap=gaps,
            qpos=qpos,
            qvel=qvel,
            watch={},
            telemetry_time=heard[:, 0],
            telemetry_attitude=heard[:, 1:5],
            telemetry_estop=heard[:, 5],
            telemetry_position=heard[:, 6 : 6 + joints],
            telemetry_velocity=heard[:, 6 + joints :],
            truth_attitude=trunk if count else np.zeros((0, 4)),
        )
