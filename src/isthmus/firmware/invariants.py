"""What must hold whatever happens to the buses: limits declared in the board file, judged from outside the firmware.

Everything is measured at the motors, in the physics and on the host link; nothing is read from the firmware's memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from isthmus.core import Bool, Float, Problem, unknown_name
from isthmus.firmware.board import Board
from isthmus.firmware.loop import Counters
from isthmus.firmware.record import Record
from isthmus.firmware.seen import Seen, seen_of

NONE = float("nan")
KD_MAX = 5.0
"""The largest damping of a MIT-style frame, N m s/rad."""
PASSIVE_TORQUE = 1.0
"""N m: a motor that asks for less than this beside damping does not drive."""
LASTING = 3
"""Physics steps in a row for which a torque or a tilt must be wrong: one corrupted frame is no violation."""
STILL_DRIVEN = 20
"""Physics steps in a row for which a motor must be driven to count as not stopped."""
TOLD_LASTING = 2
"""Telemetry frames in a row that must be wrong."""
FEWEST_TOLD = 30
"""Telemetry frames that a median needs."""
TORQUE_ROUNDING = 1.02
"""A frame's torque has 12 bits: so much more than the limit is no violation."""
BUSIEST = 0.7
"""Share of the processor's cycles that a firmware may use, unless the board says otherwise."""

Limits = Mapping[str, float | bool]
DEFAULTS: dict[str, float | bool] = {
    "settle_s": 1.0,
    "max_torque": NONE,
    "max_joint_speed": NONE,
    "max_attitude_error": 0.12,
    "max_joint_error": 0.15,
    "max_velocity_error": 0.12,
    "max_data_age_ms": NONE,
    "max_command_age_ms": 10.0,
    "estop_ms": 150.0,
    "min_upright": 0.7,
    "max_instructions_per_ms": NONE,
    "allow_watchdog": False,
    "allow_estop": False,
}
"""Every invariant and its default; NaN is not judged. A motor's torque_limit is a max_torque, a processor's clock a
max_instructions_per_ms."""


@dataclass(frozen=True)
class Violation:
    """An invariant that did not hold."""

    name: str
    at_s: float
    """Simulated seconds since power-on; where it was first seen."""
    sentence: str
    figure: float
    """The worst that was measured, in the unit of the limit."""

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        return {"name": self.name, "at_s": round(self.at_s, 6), "sentence": self.sentence, "figure": self.figure}


@dataclass(frozen=True)
class Expectation:
    """What a case expects besides the board's limits."""

    stop_at: float | None = None
    """When a fault sets in after which the firmware must stop driving the motors, s."""
    deaf: tuple[int, ...] = ()
    """Joints that cannot hear commands: neither a command age nor a stop is asked of them."""
    excused: tuple[str, ...] = ()
    """Invariants that the fault itself breaks."""
    blind: tuple[tuple[float, float], ...] = ()
    """Intervals in which only torques are judged, s."""


def limits_of(board: Board) -> dict[str, float | bool]:
    """The board's invariants over the defaults; an unknown name is a Problem."""
    for name, value in board.invariants.items():
        if name not in DEFAULTS:
            raise unknown_name(f"invariant in {board.path}", name, DEFAULTS)
        if isinstance(DEFAULTS[name], bool) != isinstance(value, bool):
            wanted = "true or false" if isinstance(DEFAULTS[name], bool) else "a number"
            raise Problem(f"{board.path}: invariant {name} is {value}, it must be {wanted}")
        least, most = (-1.0, 1.0) if name == "min_upright" else (0.0, np.inf)
        if not least <= value <= most:
            span = "from -1 to 1: it is a cosine" if name == "min_upright" else "at least 0"
            raise Problem(f"{board.path}: invariant {name} is {value:g}, it must be {span}")
    limits = DEFAULTS | dict(board.invariants)
    known = [device.knobs["torque_limit"] for device in board.devices if "torque_limit" in device.knobs]
    if np.isnan(limits["max_torque"]) and known:
        limits["max_torque"] = max(known)
    if np.isnan(limits["max_instructions_per_ms"]) and board.cpu is not None:
        limits["max_instructions_per_ms"] = BUSIEST * 1e-3 * board.cpu.clock_hz / board.cpu.cycles_per_instruction
    return limits


def check(record: Record, counters: Counters, board: Board, expect_estop_at: float | None = None) -> list[Violation]:
    """Every invariant of the board that did not hold in a run; a stop may be due from `expect_estop_at` on."""
    return judge(seen_of(record, counters, board), limits_of(board), Expectation(stop_at=expect_estop_at))


def judge(seen: Seen, limits: Limits, expect: Expectation | None = None) -> list[Violation]:
    """Every invariant that did not hold, in order of time."""
    expect = expect or Expectation()
    checks = (_torque, _speed, _upright, _command_age, _told, _velocities, _ages, _stop, _processor)
    found = [violation for check in checks for violation in check(seen, limits, expect)]
    return sorted((v for v in found if v.name not in expect.excused), key=lambda v: v.at_s)


def drives(asked: Float, velocity: Float) -> Bool:
    """Whether motors are asked for more than damping of their own motion."""
    damping = (asked * velocity <= 0) & (np.abs(asked) <= KD_MAX * np.abs(velocity) + PASSIVE_TORQUE)
    return (np.abs(asked) > PASSIVE_TORQUE) & ~damping


def _judged(time: Float, limits: Limits, expect: Expectation) -> Bool:
    """The times that are judged: after settling, before a stop is due, outside of what is excused."""
    rows = time >= limits["settle_s"]
    if expect.stop_at is not None:
        rows &= time < expect.stop_at
    for begin, end in expect.blind:
        rows &= (time < begin) | (time >= end)
    return rows


def lasting(wrong: Bool, rows: int) -> Bool:
    """Where (T, k) has been wrong for that many rows in a row."""
    if len(wrong) < rows:
        return np.zeros_like(wrong)
    out = np.zeros_like(wrong)
    count = np.cumsum(np.pad(wrong.astype(np.int64), ((1, 0), (0, 0))), axis=0)
    out[rows - 1 :] = count[rows:] - count[:-rows] == rows
    return out


def _violation(name: str, wrong: Bool, values: Float, time: Float, sentence: str) -> list[Violation]:
    """The violation, if (T, k) is wrong anywhere; the sentence has the joint as {0} and the worst value as {1}."""
    hits = np.flatnonzero(wrong.any(axis=1))
    if not len(hits):
        return []
    worst = float(np.nanmax(np.where(wrong, np.abs(values), -np.inf)))
    joint, at = int(np.argmax(wrong[hits[0]])), float(time[hits[0]])
    return [Violation(name, at, f"{sentence.format(joint, worst)}, first at {at:.3f} s", worst)]


def _torque(seen: Seen, limits: Limits, _expect: Expectation) -> list[Violation]:
    limit = float(limits["max_torque"])
    wrong = np.abs(seen.asked) > limit * TORQUE_ROUNDING
    sentence = f"joint {{0}} was asked for {{1:.1f}} N m, the limit is {limit:g}"
    return _violation("max_torque", lasting(wrong, LASTING), seen.asked, seen.time, sentence)


def _speed(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    limit = float(limits["max_joint_speed"])
    wrong = (np.abs(seen.joint_velocity) > limit) & _judged(seen.time, limits, expect)[:, None]
    sentence = f"joint {{0}} went at {{1:.1f}} rad/s, the limit is {limit:g}"
    return _violation("max_joint_speed", lasting(wrong, LASTING), seen.joint_velocity, seen.time, sentence)


def _upright(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    if seen.upright is None:
        return []
    limit = float(limits["min_upright"])
    values = seen.upright[:, None]
    wrong = lasting((values < limit) & _judged(seen.time, limits, expect)[:, None], LASTING)
    return _violation(
        "min_upright", wrong, values, seen.time, f"the robot fell: the cosine of its tilt is below {limit:g}"
    )


def _command_age(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    limit = float(limits["max_command_age_ms"])
    ages = 1e3 * np.where(np.isnan(seen.command_age), seen.time[:, None], seen.command_age)
    wrong = (ages > limit) & _judged(seen.time, limits, expect)[:, None]
    wrong[:, list(expect.deaf)] = False
    sentence = f"joint {{0}} was {{1:.1f}} ms without a command, the limit is {limit:g}"
    return _violation("max_command_age_ms", wrong, ages, seen.time, sentence)


def _told(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    """What the firmware says of attitude, joints and itself."""
    if seen.told_time is None:
        return []
    rows, found = _judged(seen.told_time, limits, expect)[:, None], list[Violation]()
    if seen.attitude_error is not None:
        limit, values = float(limits["max_attitude_error"]), seen.attitude_error[:, None]
        sentence = f"the attitude was {{1:.3f}} rad off, the limit is {limit:g}"
        wrong = lasting((values > limit) & rows, TOLD_LASTING)
        found += _violation("max_attitude_error", wrong, values, seen.told_time, sentence)
    if seen.joint_error is not None:
        limit, wrong = float(limits["max_joint_error"]), np.zeros_like(seen.joint_error, np.bool_)
        wrong |= (np.abs(seen.joint_error) > limit) & rows
        wrong[:, list(expect.deaf)] = False
        sentence = f"the firmware's angle of joint {{0}} was {{1:.2f}} rad off, the limit is {limit:g}"
        found += _violation("max_joint_error", lasting(wrong, TOLD_LASTING), seen.joint_error, seen.told_time, sentence)
    if seen.estop is not None and not limits["allow_estop"]:
        values, sentence = seen.estop[:, None], "the firmware stopped the robot without cause (it says {1:.0f})"
        found += _violation("allow_estop", (values != 0) & rows, values, seen.told_time, sentence)
    return found


def _velocities(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    """The median over the run counts: for a moment, a velocity may well be late."""
    if seen.told_time is None or seen.velocity_error is None:
        return []
    rows, limit = _judged(seen.told_time, limits, expect), float(limits["max_velocity_error"])
    if np.count_nonzero(rows) < FEWEST_TOLD:
        return []
    medians = np.median(np.abs(seen.velocity_error[rows]), axis=0)[None]  # (1, J)
    medians[:, list(expect.deaf)] = 0
    sentence = f"the firmware's velocity of joint {{0}} was {{1:.2f}} rad/s off in the median, the limit is {limit:g}"
    return _violation("max_velocity_error", medians > limit, medians, seen.told_time[rows][-1:], sentence)


def _ages(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    if seen.data_age_ms is None or seen.data_age_at is None or not len(seen.data_age_ms):
        return []
    limit, values = float(limits["max_data_age_ms"]), seen.data_age_ms[:, None]
    wrong = (values > limit) & _judged(seen.data_age_at, limits, expect)[:, None]
    sentence = f"the joint angles that the firmware works with were {{1:.1f}} ms old on average, the limit is {limit:g}"
    return _violation("max_data_age_ms", wrong, values, seen.data_age_at, sentence)


def _stop(seen: Seen, limits: Limits, expect: Expectation) -> list[Violation]:
    if expect.stop_at is None:
        return []
    wait = float(limits["estop_ms"])
    wrong = drives(seen.asked, seen.joint_velocity) & (seen.time >= expect.stop_at + wait * 1e-3)[:, None]
    wrong[:, list(expect.deaf)] = False
    sentence = f"joint {{0}} was still driven, with up to {{1:.1f}} N m, more than {wait:g} ms after the fault"
    return _violation("estop_ms", lasting(wrong, STILL_DRIVEN), seen.asked, seen.time, sentence)


def _processor(seen: Seen, limits: Limits, _expect: Expectation) -> list[Violation]:
    found, limit, used = list[Violation](), float(limits["max_instructions_per_ms"]), seen.instructions_per_ms
    if used is not None and used > limit:
        found.append(
            Violation(
                "max_instructions_per_ms",
                0.0,
                f"{used:.0f} instructions a ms on average, the limit is {limit:.0f}",
                used,
            )
        )
    times = seen.watchdog_resets
    if times and not limits["allow_watchdog"]:
        sentence = f"the watchdog reset the processor {times} time{'s' if times > 1 else ''}"
        found.append(Violation("allow_watchdog", float(seen.time[-1]), sentence, times))
    return found
