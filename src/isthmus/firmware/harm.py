"""What a seeded bug does to the robot, measured without any invariant: harm first, then what catches it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.firmware.board import Board
from isthmus.firmware.campaign import observe
from isthmus.firmware.elf import Elf
from isthmus.firmware.engine import Halt
from isthmus.firmware.faults import FAULT_AT, Case
from isthmus.firmware.invariants import drives
from isthmus.firmware.loop import Loop
from isthmus.firmware.seen import Seen

SETTLED = 1.0
"""Seconds after power-on from which on is measured."""
STOPPED = 0.15
"""Seconds after a fault from which on a motor that is driven is one too many."""


@dataclass(frozen=True)
class Harm:
    """Where a bug hurts, and the number that shows it."""

    case: str
    measure: str


HARMS = {
    "gyro-sign": Harm("nominal", "attitude error (rad)"),
    "no-clamp": Harm("host-lurch", "torque asked for (N m)"),
    "arrival-order": Harm("nominal", "torque change a ms, rms (N m)"),
    "can-parse": Harm("pushed", "torque change a ms, rms (N m)"),
    "stale-frame": Harm("joint-mute", "motors driven after the fault (s)"),
    "nack-unhandled": Harm("imu-gap", "stopped without cause (s)"),
    "watchdog-unfed": Harm("host-lost", "motors driven after the fault (s)"),
    "isr-race": Harm("race-hunt", "age of the joint angles (ms)"),
    "float-seconds": Harm("boot-phase-0", "attitude error (rad)"),
    "short-age": Harm("boot-phase-2", "stopped without cause (s)"),
    "dt-truncation": Harm("turntable-stretch", "attitude error (rad)"),
    "double-maths": Harm("nominal", "instructions a ms"),
}
"""For each bug of the reference firmware."""


def _settled(seen: Seen) -> np.ndarray:
    assert seen.told_time is not None  # noqa: S101 - the reference firmware has telemetry
    return seen.told_time >= SETTLED


def _attitude(seen: Seen) -> float:
    return float(np.max(seen.attitude_error[_settled(seen)])) if seen.attitude_error is not None else 0.0


def _torque(seen: Seen) -> float:
    return float(np.max(np.abs(seen.asked)))


def _torque_steps(seen: Seen) -> float:
    return float(np.sqrt(np.mean(np.diff(seen.asked[seen.time >= SETTLED], axis=0) ** 2)))


def _driven(seen: Seen) -> float:
    late = seen.time >= FAULT_AT + STOPPED
    return float(np.count_nonzero(drives(seen.asked, seen.joint_velocity)[late].any(axis=1))) * _step(seen)


def _needless(seen: Seen) -> float:
    told = seen.told_time
    if told is None or seen.estop is None or not np.any(seen.estop):
        return 0.0
    return float(seen.time[-1] - told[np.flatnonzero(seen.estop)[0]])


def _age(seen: Seen) -> float:
    return float(np.max(seen.data_age_ms)) if seen.data_age_ms is not None and len(seen.data_age_ms) else 0.0


def _step(seen: Seen) -> float:
    return float(seen.time[1] - seen.time[0])


MEASURES: Mapping[str, Callable[[Seen], float]] = {
    "attitude error (rad)": _attitude,
    "torque asked for (N m)": _torque,
    "torque change a ms, rms (N m)": _torque_steps,
    "motors driven after the fault (s)": _driven,
    "stopped without cause (s)": _needless,
    "age of the joint angles (ms)": _age,
    "instructions a ms": lambda seen: seen.instructions_per_ms or 0.0,
}


def measure(board: Board, elf: Elf, case: Case, name: str, seed: int) -> float | None:
    """The measure of that name in a run of a case, the larger, the worse; None where the processor stopped for good."""
    with Loop(board, elf, exact=case.exact) as loop:
        try:
            return MEASURES[name](observe(loop, case, seed))
        except Halt:
            return None
