"""One robot whose control loop goes through its firmware: processor, buses, devices and physics in lockstep."""

import ctypes as c
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Problem
from isthmus.firmware.board import Board
from isthmus.firmware.elf import Elf
from isthmus.firmware.engine import WATCH_TYPES, Engine, board_library
from isthmus.firmware.host_link import ConsoleLink, HostLink, IsthmusLink, Telemetry
from isthmus.firmware.motions import Motion, turntable_truth
from isthmus.firmware.record import Record, joined
from isthmus.firmware.robot import load_body

STEP = 1e-3
"""Seconds of a step where there is no robot."""
INBOX = 32
"""Periods after which telemetry is decoded that nobody has asked for: one after another finds the caches warm."""


@dataclass(frozen=True)
class Counters:
    """What happened since the reset."""

    seconds: float
    instructions: int
    blocks: int
    starts: int
    exceptions: int
    accesses: int
    watchdog_resets: int
    resets: int
    idle_share: float
    bus_frames: dict[str, int]
    bus_load: dict[str, float]
    """Share of the time that each bus was busy."""
    bus_errors: dict[str, int]
    telemetry_frames: int
    telemetry_errors: int
    longest_command_gap: float
    """Seconds between two commands that one motor heard, at most: the deadline that counts."""

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)


class Loop:
    """A board with its robot. Use it as a context manager, or close it."""

    def __init__(
        self,
        board: Board,
        elf: Elf,
        *,
        exact: bool = False,
        trace: int = 0,
        wall_seconds: float = 600.0,
        policy: bool = False,
    ) -> None:
        """Build everything; `reset` comes before the first `run`."""
        self.board, self.elf = board, elf
        self.body = load_body(board)
        self.data = mujoco.MjData(self.body.model) if self.body else None
        self.engine = Engine(board, elf, exact=exact, wall_seconds=wall_seconds)
        self.rig = self.engine.rig
        self.rig.keep_trace(trace)
        self.timestep = float(self.body.model.opt.timestep) if self.body else STEP
        self._steps_a_period = max(1, round(board.host.period_ms * 1e-3 / self.timestep))
        self._library = board_library()
        self.pointer: int | None = self._make()
        self._watch = self._watches()
        self._width = int(self._library.loop_width(self.pointer))
        self._policy, self._wall_seconds = policy, wall_seconds
        self._truth: Float | None = None
        self.link: HostLink | None = None
        self._begin()

    def _make(self) -> int:
        body, none = self.body, np.zeros(1, np.int32)
        model = _address(body.model) if body else None
        data = _address(self.data) if self.data is not None else None
        places = (body.qpos, body.dof, body.actuator) if body else (none, none, none)
        others = (body.gyro, body.accelerometer, body.trunk) if body else (-1, -1, -1)
        pointers = [place.ctypes.data for place in places]
        return self._library.loop_new(
            self.rig.pointer, self.engine.pointer, model, data, *pointers, *others, self.timestep
        )

    def _watches(self) -> dict[str, int]:
        """Variables that the firmware does not have are left out: they are a convenience."""
        found: dict[str, int] = {}
        for name, watch in self.board.watch.items():
            symbol = self.elf.symbols.get(watch.symbol)
            kind = WATCH_TYPES.index(watch.type)
            if symbol and self._library.loop_watch(self.pointer, symbol.address, kind, watch.count) == 0:
                found[name] = watch.count
        return found

    def _begin(self) -> None:
        protocol = self.board.host.protocol
        self.link = {
            "isthmus": lambda: IsthmusLink(self.rig.joints, policy=self._policy),
            "console": ConsoleLink,
            "none": lambda: None,
        }[protocol]()
        self._targets = np.zeros(self.rig.joints)
        self._sending, self._step, self._frames = True, 0, 0
        self._telemetry: Telemetry | None = None
        self._heard_at = 0.0
        self._inbox: list[tuple[bytes, float]] = []
        self._attitude: Float | None = None

    def reset(self, seed: int, *, counter_offset: int = 0) -> None:
        """Power on: processor, devices and physics at time zero. Parameters and faults stay as they are."""
        self.rig.set("cpu.counter_offset", counter_offset)
        self.engine.reset(seed)
        if self.data is not None and self.body is not None:
            mujoco.mj_resetData(self.body.model, self.data)
            if self.body.keyframe >= 0:
                mujoco.mj_resetDataKeyframe(self.body.model, self.data, self.body.keyframe)
            mujoco.mj_forward(self.body.model, self.data)
        self._library.loop_restart(self.pointer)
        self.push(np.zeros(3))
        self.turntable(None)
        self._begin()

    def set(self, pattern: str, value: float) -> None:
        """Set a parameter or a fault; * stands for anything."""
        self.rig.set(pattern, value)

    def faults(self, values: Mapping[str, float]) -> None:
        """Set several."""
        self.rig.set_all(values)

    def command(self, targets: Float) -> None:
        """What the host asks for from now on (J,): radians from the firmware's pose."""
        self._targets = np.asarray(targets, float).copy()

    def hold(self, sending: bool) -> None:
        """Whether the host goes on sending."""
        self._sending = sending

    def push(self, force: Float) -> None:
        """A force on the trunk (3,), in N, until another is given."""
        self._force = np.array(force, float)
        self._library.loop_force(self.pointer, self._force.ctypes.data)

    def turntable(self, truth: Float | None) -> None:
        """Freeze the robot and show the IMU rates and accelerations (T, 6) instead, one row a physics step."""
        self._truth = None if truth is None else np.ascontiguousarray(truth, float)
        count = 0 if self._truth is None else len(self._truth)
        self._library.loop_truth(self.pointer, None if self._truth is None else self._truth.ctypes.data, count)

    def run(self, seconds: float) -> Record:
        """Go on for so long. Raises Halt when the processor cannot."""
        steps = round(seconds / self.timestep)
        rows = np.zeros((steps, self._width))
        heard = np.full((steps, 6 + 2 * self.rig.joints), np.nan)
        self._library.loop_record(self.pointer, rows.ctypes.data, steps)
        done = 0
        while done < steps:
            chunk = min(self._steps_a_period - self._step % self._steps_a_period, steps - done)
            self.before_period()
            halts = run_loops([self], chunk, 1)
            self._step += chunk
            for scripted in self.engine.scripted:
                scripted.check()
            if halts[0]:
                raise self.halted()
            self.after_period()
            told = self.telemetry
            if told is not None:
                heard[done : done + chunk, 0] = self._heard_at
                heard[done : done + chunk, 1:] = np.concatenate(
                    (told.attitude, [told.estop], told.positions, told.velocities)
                )
            done += chunk
        self._library.loop_record(self.pointer, None, 0)
        nq, nv = (self.body.model.nq, self.body.model.nv) if self.body else (0, 0)
        return Record.of(rows, self.rig.joints, nq, nv, self._watch, heard, self._attitudes(rows, steps))

    def _attitudes(self, rows: Float, steps: int) -> Float:
        """The true attitude in each of the steps (T, 4)."""
        if self._attitude is not None:
            return self._attitude[np.minimum(np.arange(self._step - steps, self._step), len(self._attitude) - 1)]
        if self.body is None or not self.body.is_free:
            return np.full((steps, 4), np.nan) if self.body is None else np.tile([1.0, 0, 0, 0], (steps, 1))
        first = 2 + 5 * self.rig.joints
        return rows[:, first + 3 : first + 7].copy()

    def play(self, motion: Motion, seconds: float, seed: int) -> Record:
        """Let the host ask for a motion; a push changes with the host's period. Turntables begin at time zero."""
        if motion.frozen and self.time == 0:
            truth, self._attitude = turntable_truth(seconds + 1, self.timestep)
            self.turntable(truth)
        records: list[Record] = []
        steps, period = round(seconds / self.timestep), self._steps_a_period
        while steps > 0:
            self.command(motion.targets(self.time, self.rig.joints))
            self.push(motion.force(self.time, seed))
            chunk = min(period - self._step % period, steps)
            records.append(self.run(chunk * self.timestep))
            steps -= chunk
        return joined(records)

    @property
    def time(self) -> float:
        """Seconds since power-on."""
        return self._step * self.timestep

    def before_period(self) -> None:
        """What the host sends at the start of a period."""
        if self.link is not None and self._sending and self._step % self._steps_a_period == 0:
            self.engine.send(self.link.encode(self._targets))

    def after_period(self) -> None:
        """Keep what the host has heard."""
        if self.link is not None:
            self._inbox.append((self.engine.take(), self.engine.heard_at))
            if len(self._inbox) >= INBOX or not isinstance(self.link, IsthmusLink):
                self._read_inbox()

    def _read_inbox(self) -> None:
        """Decode what was kept."""
        for data, heard_at in self._inbox:
            found = self.link.decode(data) if self.link is not None else []
            self._frames += len(found)
            if found:
                self._telemetry, self._heard_at = found[-1], heard_at
        self._inbox.clear()

    @property
    def telemetry(self) -> Telemetry | None:
        """The newest that the host has heard."""
        self._read_inbox()
        return self._telemetry

    def count_steps(self, steps: int) -> None:
        """Note steps that were run together with other loops."""
        self._step += steps

    def allow_time(self) -> None:
        """Let the processor run for as long as it may, from now on, by the clock on the wall."""
        self._library.board_wall(self.engine.pointer, self._wall_seconds)

    def halted(self) -> Problem:
        """Why the processor cannot go on."""
        return self.engine.halted() or Problem(f"{self.elf.path} stopped for no known reason")

    @property
    def counters(self) -> Counters:
        """What happened since the reset."""
        self._read_inbox()
        cpu, buses = self.engine.counters, {name: self.rig.bus_counters(name) for name in self.rig.buses}
        seconds = cpu.nanoseconds * 1e-9
        return Counters(
            seconds,
            cpu.instructions,
            cpu.blocks,
            cpu.starts,
            cpu.exceptions,
            cpu.accesses,
            cpu.watchdog_resets,
            cpu.resets,
            cpu.idle_cycles / max(cpu.cycles, 1),
            {name: values[0] for name, values in buses.items()},
            {name: values[1] / max(seconds, 1e-9) for name, values in buses.items()},
            {name: values[2] for name, values in buses.items()},
            self._frames,
            self.link.errors if isinstance(self.link, IsthmusLink) else 0,
            self.rig.longest_gap(),
        )

    def trace_events(self) -> NDArray[Any]:
        """The events that were kept, oldest first."""
        return self.rig.trace()

    def variable(self, name: str, dtype: str, count: int = 1) -> NDArray[Any]:
        """A variable of the firmware by its symbol: a live view."""
        return self.engine.variable(name, dtype, count)

    def close(self) -> None:
        """Free what C holds."""
        if self.pointer:
            self._library.loop_free(self.pointer)
            self.pointer = None
            self.engine.close()

    def __del__(self) -> None:
        """Free what C holds of a loop that nobody closed."""
        if hasattr(self, "pointer"):
            self.close()

    def __enter__(self) -> "Loop":
        """For `with`."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free what C holds."""
        self.close()


def _address(thing: mujoco.MjModel | mujoco.MjData) -> int:
    """Where MuJoCo's own structure is."""
    return int(getattr(thing, "_address"))  # noqa: B009 - its stubs do not have it


def run_loops(loops: Sequence[Loop], steps: int, threads: int) -> NDArray[np.int32]:
    """Run loops side by side, without the interpreter's lock; returns why each has stopped (n,), 0 where it has not."""
    for loop in loops:
        loop.allow_time()
    halts = np.zeros(len(loops), np.int32)
    pointers = (c.c_void_p * len(loops))(*[loop.pointer for loop in loops])
    board_library().loops_run(pointers, len(loops), steps, threads, halts.ctypes.data)
    return halts
