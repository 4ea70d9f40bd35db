"""Buses and devices in C, seen from Python: what an emulated board and a Linux program have in common."""

import ctypes as c
from collections.abc import Mapping
from enum import IntEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float, Problem, unknown_name
from isthmus.firmware.board import Board, Device
from isthmus.firmware.extensions import NATIVE, add_compiled
from isthmus.io.native import Library, load

RIG_SOURCES = tuple(NATIVE / name for name in ("rig.c", "can_bus.c", "i2c_bus.c", "lsm6dsox.c", "mit_motor.c"))
TRACE = np.dtype([("t", "<i8"), ("kind", "<i4"), ("source", "<i4"), ("a", "<i8"), ("b", "<i8")])
NEVER = 2**63 - 1


class Kind(IntEnum):
    """What an event of a trace is; `native/fw.h` has the same numbers."""

    EXC_ENTER = 1
    EXC_LEAVE = 2
    CAN_FRAME = 3
    CAN_DELIVERED = 4
    I2C = 5
    UART_RX = 6
    UART_TX = 7
    IDLE = 8
    WATCHDOG = 9
    RESET = 10
    FAULT = 11
    COMMAND = 12
    CAN_ERROR = 13
    BUS_OFF = 14
    IMU_SAMPLE = 15
    FAULT_WINDOW = 16
    MARK = 17
    HOST_SENT = 18


class CanFrame(c.Structure):
    """A CAN frame as C has it."""

    _fields_ = [
        ("id", c.c_uint32),
        ("ext", c.c_uint8),
        ("rtr", c.c_uint8),
        ("dlc", c.c_uint8),
        ("pad", c.c_uint8),
        ("data", c.c_uint8 * 8),
    ]


def declare_rig(library: c.CDLL) -> c.CDLL:
    """Give the functions of `native/fw.h` their types."""
    pointer, number, integer = c.c_void_p, c.c_double, c.c_int
    functions: dict[str, tuple[Any, list[Any]]] = {
        "fw_rig_new": (pointer, [integer]),
        "fw_rig_free": (None, [pointer]),
        "fw_rig_reset": (None, [pointer, c.c_uint64]),
        "fw_rig_now": (c.c_int64, [pointer]),
        "fw_rig_next": (c.c_int64, [pointer]),
        "fw_rig_advance": (None, [pointer, c.c_int64]),
        "fw_rig_sense": (None, [pointer] * 5),
        "fw_rig_torques": (None, [pointer, pointer]),
        "fw_rig_joints": (None, [pointer] * 5),
        "fw_set": (integer, [pointer, c.c_char_p, number]),
        "fw_get": (number, [pointer, c.c_char_p]),
        "fw_knobs": (integer, [pointer, c.c_char_p, integer]),
        "fw_trace": (None, [pointer, pointer, c.c_int64]),
        "fw_trace_count": (c.c_int64, [pointer]),
        "fw_bus_counters": (None, [pointer, integer, pointer, pointer, pointer]),
        "fw_rig_add_can": (integer, [pointer, c.c_char_p, number]),
        "fw_rig_add_i2c": (integer, [pointer, c.c_char_p, number]),
        "fw_rig_add_lsm6dsox": (integer, [pointer, c.c_char_p, integer, integer]),
        "fw_rig_add_mit_motor": (integer, [pointer, c.c_char_p, integer, c.c_uint32, c.c_uint32, integer]),
        "fw_can_port": (integer, [pointer, integer]),
        "fw_can_send": (integer, [pointer, integer, pointer]),
        "fw_can_recv": (integer, [pointer, integer, pointer, pointer]),
        "fw_i2c_transfer": (integer, [pointer, integer, integer, pointer, integer, pointer, integer]),
        "fw_i2c_seconds": (number, [pointer, integer, integer]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@cache
def rig_library() -> c.CDLL:
    """Buses and devices alone, without emulator and physics."""
    return declare_rig(load(Library("isthmus-rig", RIG_SOURCES)))


PROBABILITIES = ("loss", "corrupt", "error", "reorder", "nack")
NEVER_NEGATIVE = ("_ms", "_us", "_noise", "_limit", "_max")


def _check_knob(name: str, value: float) -> None:
    """Refuse what no bus or device can have."""
    last = name.rpartition(".")[2]
    if last in PROBABILITIES and not 0 <= value <= 1:
        raise Problem(f"{name} is {value:g}, and must be from 0 to 1: it is a probability")
    if last.endswith(NEVER_NEGATIVE) and value < 0:
        raise Problem(f"{name} is {value:g}, and must not be negative")


class Rig:
    """The buses and devices of a board, on one simulated clock."""

    def __init__(self, board: Board, library: c.CDLL | None = None) -> None:
        """Build what the board file lists."""
        self.board = board
        self.library = library or rig_library()
        self.joints = len(board.joints)
        self.pointer: int | None = self.library.fw_rig_new(self.joints)
        if not self.pointer:
            raise Problem(f"{board.path}: {self.joints} motors are more than there can be (64)")
        self.buses = {bus.name: self._add_bus(bus.name, bus.kind, bus.rate) for bus in board.buses}
        self._ring: NDArray[Any] | None = None
        joint = 0
        for device in board.devices:
            self._add_device(device, joint)
            joint += device.joint is not None

    def _add_bus(self, name: str, kind: str, rate: float) -> int:
        add = self.library.fw_rig_add_can if kind == "can" else self.library.fw_rig_add_i2c
        bus = int(add(self.pointer, name.encode(), rate))
        if bus < 0:
            raise Problem(f"{self.board.path}: bus {name} is one too many: there can be 16")
        return bus

    def _add_device(self, device: Device, joint: int) -> None:
        bus, name = self.buses[device.on], device.name.encode()
        if device.type == "lsm6dsox":
            made = self.library.fw_rig_add_lsm6dsox(self.pointer, name, bus, device.address)
        elif device.type.endswith(".c"):
            made = add_compiled(self.library, self.board, device, self.pointer, bus, joint)
        else:
            made = self.library.fw_rig_add_mit_motor(self.pointer, name, bus, device.id, device.reply_id, joint)
        if made < 0:
            raise Problem(f"{self.board.path}: device {device.name} finds no place on {device.on}: there are too many")
        for key, value in device.knobs.items():
            self.set(f"{device.name}.{key}", value)

    @property
    def knobs(self) -> list[str]:
        """The names of all that can be set."""
        text = c.create_string_buffer(131072)
        self.library.fw_knobs(self.pointer, text, len(text))
        return text.value.decode().split()

    def set(self, pattern: str, value: float) -> None:
        """Set a parameter or fault, as in can1.loss; * stands for anything, as in can*.loss."""
        names = self.knobs
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            choices = {f"*.{name.partition('.')[2]}" for name in names}
            raise unknown_name(f"parameter or fault of board {self.board.name}", pattern, choices)
        for name in found:
            _check_knob(name, value)
            self.library.fw_set(self.pointer, name.encode(), value)

    def set_all(self, values: Mapping[str, float]) -> None:
        """Set several."""
        for pattern, value in values.items():
            self.set(pattern, value)

    def get(self, name: str) -> float:
        """What a parameter or fault is set to."""
        return float(self.library.fw_get(self.pointer, name.encode()))

    def reset(self, seed: int) -> None:
        """Back to time zero, devices as when power came on; parameters and faults stay."""
        self.library.fw_rig_reset(self.pointer, seed)

    @property
    def seconds(self) -> float:
        """The time it is."""
        return self.library.fw_rig_now(self.pointer) * 1e-9

    def torques(self) -> Float:
        """What the motors exert (joints,)."""
        out = np.zeros(max(self.joints, 1))
        self.library.fw_rig_torques(self.pointer, out.ctypes.data)
        return out[: self.joints]

    def longest_gap(self) -> float:
        """The longest time between two commands that a motor heard since the reset, in seconds."""
        states = np.zeros((4, max(self.joints, 1)))
        self.library.fw_rig_joints(self.pointer, *[row.ctypes.data for row in states])
        return float(states[3].max())

    def keep_trace(self, capacity: int) -> None:
        """Keep the last `capacity` events."""
        self._ring = np.zeros(capacity, TRACE) if capacity else None
        self.library.fw_trace(self.pointer, self._ring.ctypes.data if self._ring is not None else None, capacity)

    def trace(self) -> NDArray[Any]:
        """The events that were kept, oldest first."""
        if self._ring is None:
            return np.zeros(0, TRACE)
        count = int(self.library.fw_trace_count(self.pointer))
        if count <= len(self._ring):
            return self._ring[:count].copy()
        return np.roll(self._ring, -(count % len(self._ring)))

    def bus_counters(self, name: str) -> tuple[int, float, int]:
        """Frames, seconds on the wire and errors of a bus."""
        values = [c.c_int64() for _ in range(3)]
        self.library.fw_bus_counters(self.pointer, self.buses[name], *[c.byref(value) for value in values])
        return values[0].value, values[1].value * 1e-9, values[2].value

    def close(self) -> None:
        """Free what C holds."""
        if self.pointer:
            self.library.fw_rig_free(self.pointer)
            self.pointer = None
