"""The cases of a campaign: what happens to a robot's buses, sensors, clocks and power, and what may follow from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from isthmus.core import Float, unknown_name
from isthmus.firmware.board import Board
from isthmus.firmware.invariants import Expectation
from isthmus.firmware.motions import MOTIONS, Motion

FAULT_AT = 2.0
"""Seconds after power-on at which a fault sets in, for those that set in."""
NEVER = 1e9
WRAP_AT = 2.0
"""Seconds after power-on at which a counter wraps in the sweep of boot phases."""
COUNTER_HZ = 1e6
"""The rate of the free-running timer that most firmware keeps time by: microseconds."""
PUSH = 25.0
"""Standard deviation of the pushes, in N: a quadruped of 12 kg withstands five times that. Who is pushed over has not
proved anything about the firmware."""
HELD = {"max_attitude_error": 0.5}
"""Factor on the limit on a turntable: nothing accelerates there but gravity."""
LURCH = 0.45
"""Radians by which the targets jump when a host asks for too much."""
WRAPS = {
    "32 bits of microseconds": 2**32,
    "31 bits of microseconds": 2**31,
    "16 bits of milliseconds": 2**16 * 1000,
    "10 times 16 bits of milliseconds": 10 * 2**16 * 1000,
    "24 bits of microseconds": 2**24,
}
"""Where counters wrap or lose precision, in ticks of 1 us. An age kept in fewer bits shows at one of them."""


def _lurch(t: float, joints: int) -> Float:
    """Targets that jump as far as a host with a fault of its own may ask, one way and then the other."""
    size = LURCH if 1.5 <= t < 1.6 else -LURCH if 1.6 <= t < 1.7 else 0.0
    return size * np.where(np.arange(joints) % 3 == 1, 1.0, 0.0)


@dataclass(frozen=True)
class Case:
    """One run of the campaign."""

    name: str
    what: str
    """In a few words: what is done."""
    knobs: Mapping[str, float] = field(default_factory=dict[str, float])
    expect: Expectation = field(default_factory=Expectation)
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """Factors on the board's limits."""
    seconds: float = 4.0
    motion: Motion = MOTIONS["squat"]
    counter_offset: int = 0
    exact: bool = False
    """Interrupts may come between any two instructions, not only between blocks of them."""
    needs: str = ""
    """What the board must have: imu, motor, can, host, cpu or trunk."""

    @property
    def turntable(self) -> bool:
        """Whether the robot is held and turned, so that nothing it does changes what it senses."""
        return self.motion.frozen


def all_cases(board: Board, *, race: bool = False) -> list[Case]:
    """Every case that there is, whether or not the board has what it needs."""
    made = [case for make in (_buses, _silences, _imu, _clocks, _power) for case in make(board)]
    return [*made, *(_race() if race else [])]


def choose(cases: Sequence[Case], names: Sequence[str]) -> list[Case]:
    """The cases of these names; all when none is given."""
    for name in names:
        if name not in {case.name for case in cases}:
            raise unknown_name("case", name, (case.name for case in cases))
    return [case for case in cases if not names or case.name in names]


def lacking(case: Case, board: Board) -> str:
    """Why the case cannot be run on this board; empty if it can."""
    if case.needs in what_it_has(board):
        return ""
    return f"the board has no {case.needs}"


def what_it_has(board: Board) -> set[str]:
    """Which needs of cases a board meets."""
    kinds = {device.type for device in board.devices}
    buses = {bus.kind for bus in board.buses}
    host = board.host.protocol != "none"
    found = {
        "": True,
        "imu": "lsm6dsox" in kinds,
        "motor": "mit-motor" in kinds,
        "can": "can" in buses,
        "i2c": "i2c" in buses,
        "host": host,
        "cpu": board.cpu is not None,
        "turntable": "lsm6dsox" in kinds and board.cpu is not None,
    }
    return {name for name, there in found.items() if there}


def _names(board: Board, kind: str) -> list[str]:
    return [device.name for device in board.devices if device.type == kind]


def _bus(board: Board, kind: str, every: str, value: float) -> dict[str, float]:
    return {f"{bus.name}.{every}": value for bus in board.buses if bus.kind == kind}


def _devices(board: Board, kind: str, knobs: Mapping[str, float]) -> dict[str, float]:
    return {f"{name}.{knob}": value for name in _names(board, kind) for knob, value in knobs.items()}


def _buses(board: Board) -> list[Case]:
    def can(knob: str, value: float) -> dict[str, float]:
        return _bus(board, "can", knob, value)

    late = Expectation(excused=("max_command_age_ms",))
    first = next((bus.name for bus in board.buses if bus.kind == "can"), "can")
    off = {f"{first}.off_from": FAULT_AT, f"{first}.off_to": FAULT_AT + 0.02}
    return [
        Case("nominal", "nothing goes wrong"),
        Case("pushed", "the trunk is pushed", motion=replace(MOTIONS["push"], push=PUSH)),
        Case("walking", "the robot walks", motion=MOTIONS["walk"]),
        Case(
            "constant-reply",
            "every motor replies after 0.4 ms",
            _devices(board, "mit-motor", {"reply_lo_ms": 0.4, "reply_hi_ms": 0.4}),
            needs="motor",
        ),
        Case(
            "reply-jitter",
            "motors reply after 0.4 to 2 ms",
            _devices(board, "mit-motor", {"reply_lo_ms": 0.4, "reply_hi_ms": 2.0}),
            needs="motor",
        ),
        Case("frame-loss", "3 % of the CAN frames vanish", can("loss", 0.03), late, needs="can"),
        Case("frame-delay", "CAN frames arrive 0.5 ms late", can("delay_ms", 0.5), needs="can"),
        Case("frame-jitter", "CAN frames arrive up to 1 ms late", can("jitter_ms", 1.0), needs="can"),
        Case(
            "reordering",
            "20 % of the CAN frames overtake each other",
            {**can("reorder", 0.2), **can("reorder_ms", 1.0)},
            needs="can",
        ),
        Case(
            "corruption",
            "0.1 % of the CAN frames have a wrong bit that the checksum missed",
            can("corrupt", 0.001),
            Expectation(excused=("max_joint_error",)),
            needs="can",
        ),
        Case("bus-errors", "2 % of the CAN frames meet an error and are sent again", can("error", 0.02), needs="can"),
        Case("bus-off", f"{first} fails for 20 ms", off, Expectation(blind=((FAULT_AT, FAULT_AT + 0.3),)), needs="can"),
    ]


def _silences(board: Board) -> list[Case]:
    motors = _names(board, "mit-motor") or ["motor"]
    which = len(motors) // 2
    stop = Expectation(stop_at=FAULT_AT)
    silent = {f"{motors[which]}.silent_from": FAULT_AT, f"{motors[which]}.silent_to": NEVER}
    mute = {f"{motors[0]}.mute_from": FAULT_AT, f"{motors[0]}.mute_to": NEVER}
    link = board.host.link or "host"
    lost = {f"{link}.lost_from": FAULT_AT, f"{link}.lost_to": NEVER}
    return [
        Case(
            "joint-silent",
            f"{motors[which]} hears and says nothing any more",
            silent,
            replace(stop, deaf=(which,)),
            seconds=3.0,
            needs="motor",
        ),
        Case("joint-mute", f"{motors[0]} does not reply any more", mute, stop, seconds=3.0, needs="motor"),
        Case("host-lost", "the host falls silent", lost, stop, seconds=3.0, needs="host"),
        Case(
            "host-lurch",
            f"the host's targets jump by {LURCH:g} rad",
            motion=Motion("lurch", "targets jump", _lurch),
            seconds=2.5,
            expect=Expectation(excused=("min_upright", "max_attitude_error", "max_joint_error", "max_data_age_ms")),
            needs="host",
        ),
        Case(
            "host-noise",
            "5 % of the host's bytes are lost",
            {f"{link}.loss": 0.05},
            Expectation(excused=("allow_estop", "min_upright")),
            needs="host",
        ),
    ]


def _imu(board: Board) -> list[Case]:
    def imu(**knobs: float) -> dict[str, float]:
        return _devices(board, "lsm6dsox", knobs)

    stop = Expectation(stop_at=FAULT_AT)
    stuck = Expectation(excused=("max_attitude_error", "min_upright", "max_joint_error"))
    gap = imu(dead_from=FAULT_AT, dead_to=FAULT_AT + 0.04)
    return [
        Case(
            "imu-dead",
            "the IMU does not acknowledge any more",
            imu(dead_from=FAULT_AT, dead_to=NEVER),
            stop,
            seconds=3.0,
            needs="imu",
        ),
        Case("imu-gap", "the IMU does not acknowledge for 40 ms", gap, needs="imu"),
        Case(
            "imu-nack", "5 % of the I2C transfers are not acknowledged", _bus(board, "i2c", "nack", 0.05), needs="imu"
        ),
        Case(
            "imu-stuck",
            "the IMU shows the same values over and over",
            imu(stuck_from=FAULT_AT, stuck_to=NEVER),
            stuck,
            seconds=3.0,
            needs="imu",
        ),
        Case(
            "imu-bias",
            "the gyroscope is 0.6 degrees a second off",
            imu(gyro_bias_x=0.01, gyro_bias_y=-0.01, gyro_bias_z=0.01),
            needs="imu",
        ),
        Case(
            "i2c-stretch",
            "I2C transfers take up to 0.4 ms longer",
            _bus(board, "i2c", "stretch_us", 400.0),
            needs="imu",
        ),
        Case(
            "turntable",
            "the trunk is turned by a motor, open loop",
            motion=MOTIONS["turntable"],
            limits=HELD,
            needs="turntable",
        ),
        Case(
            "turntable-stretch",
            "the same, and I2C transfers take up to 0.2 ms longer",
            _bus(board, "i2c", "stretch_us", 200.0),
            motion=MOTIONS["turntable"],
            limits=HELD,
            needs="turntable",
        ),
    ]


def _clocks(board: Board) -> list[Case]:
    sweep = [
        Case(
            f"boot-phase-{k}",
            f"the counters pass {name} after {WRAP_AT:g} s",
            counter_offset=int(wrap - WRAP_AT * COUNTER_HZ) % 2**32,
            seconds=3.0,
            needs="",
        )
        for k, (name, wrap) in enumerate(WRAPS.items())
    ]
    return [
        Case("clock-fast", "the processor's clock is 2 % fast", {"cpu.drift": 0.02}, needs="cpu"),
        Case("clock-slow", "the processor's clock is 2 % slow", {"cpu.drift": -0.02}, needs="cpu"),
        Case(
            "imu-clock",
            "the IMU samples 3 % slower than it says",
            _devices(board, "lsm6dsox", {"drift": -0.03}),
            needs="imu",
        ),
        *sweep,
    ]


def _power(_board: Board) -> list[Case]:
    out = {"cpu.brownout_from": FAULT_AT, "cpu.brownout_to": FAULT_AT + 0.01}
    expect = Expectation(
        excused=("max_attitude_error", "max_joint_error", "min_upright"), blind=((FAULT_AT, FAULT_AT + 0.3),)
    )
    return [Case("brown-out", "power dips for 10 ms in mid-motion", out, expect, needs="cpu")]


def _race() -> list[Case]:
    return [
        Case(
            "race-hunt", "interrupts between any two instructions, for a minute", seconds=60.0, exact=True, needs="cpu"
        )
    ]
