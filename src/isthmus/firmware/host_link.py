"""The host's side of the reference firmware's serial protocol, as `reference/host.c` describes it."""

import struct
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from isthmus.core import Float

LSB = 1e-4
"""Radians of a target's last bit."""


@dataclass(frozen=True)
class Telemetry:
    """What the firmware says of itself."""

    estop: int
    """Why it has stopped: 1 a joint is silent, 2 the IMU, 4 the host; 0 while it has not."""
    microseconds: int
    attitude: Float
    """Quaternion (4,), w first."""
    rates: Float
    """Of turning (3,), rad/s."""
    positions: Float
    """Of the joints (J,), rad."""
    velocities: Float
    torques: Float


class HostLink(Protocol):
    """Turns targets into bytes, and bytes into telemetry."""

    def encode(self, targets: Float) -> bytes:
        """The bytes that ask for joint targets (J,)."""
        ...

    def decode(self, data: bytes) -> list[Telemetry]:
        """What is complete in the bytes that have come so far."""
        ...


@final
class IsthmusLink:
    """The reference firmware's protocol."""

    def __init__(self, joints: int, *, policy: bool = False) -> None:
        """For so many joints; `policy` asks the firmware to level the body by its network."""
        self._joints, self._mode = joints, int(policy)
        self._size = 2 + 4 + 4 * (7 + 3 * joints) + 1
        self._buffer = b""
        self.errors = 0

    def encode(self, targets: Float) -> bytes:
        """A command frame."""
        values = np.minimum(np.maximum(np.rint(targets / LSB), -32768), 32767)
        message = bytes((0xA5, self._mode)) + values.astype("<i2").tobytes()
        return message + bytes((sum(message) & 0xFF,))

    def decode(self, data: bytes) -> list[Telemetry]:
        """Telemetry frames, in order; what does not add up is passed over."""
        self._buffer += data
        found: list[Telemetry] = []
        while True:
            start = self._buffer.find(b"\x5a")
            if start < 0:
                self._buffer = b""
                return found
            if len(self._buffer) - start < self._size:
                self._buffer = self._buffer[start:]
                return found
            frame = self._buffer[start : start + self._size]
            if sum(frame[:-1]) & 0xFF != frame[-1]:
                self.errors += 1
                self._buffer = self._buffer[start + 1 :]
                continue
            self._buffer = self._buffer[start + self._size :]
            found.append(self._telemetry(frame))

    def _telemetry(self, frame: bytes) -> Telemetry:
        n = self._joints
        (now,) = struct.unpack_from("<I", frame, 2)
        values = np.frombuffer(frame, "<f4", 7 + 3 * n, 6).astype(float)
        rest = values[7:].reshape(3, n)
        return Telemetry(frame[1], now, values[:4], values[4:7], rest[0], rest[1], rest[2])


@final
class ConsoleLink:
    """Text that the firmware prints; nothing is sent."""

    def __init__(self) -> None:
        """Begin with no text."""
        self.text = ""

    def encode(self, targets: Float) -> bytes:  # noqa: ARG002 - nothing is sent
        """Nothing."""
        return b""

    def decode(self, data: bytes) -> list[Telemetry]:
        """Keep the text."""
        self.text = (self.text + data.decode("ascii", "replace"))[-100_000:]
        return []
