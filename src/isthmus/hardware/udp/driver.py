"""A robot that speaks UDP packets, as a driver. It is the example of how to write one: docs/drivers.md explains it."""

import itertools
import select
import socket
import time
from collections.abc import Sequence

import numpy as np

from isthmus.core import Float, Problem
from isthmus.hardware.clock import Clock, WallClock
from isthmus.hardware.driver import Commands, JointReading
from isthmus.hardware.stop import Stop
from isthmus.hardware.udp.address import UdpAddress
from isthmus.hardware.udp.wire import MOST, Kind, Packet, joints_crc, packed, unpacked

HELLO = 0.2
"""Seconds between two packets that ask the robot to tell of its joints."""
SILENT = 0.5
"""Seconds without a reading after which nobody seems to be there."""


class UdpDriver:
    """Packets to and from one robot; `wire.py` says what is in them."""

    def __init__(self, address: UdpAddress, joints: Sequence[str], commands: Commands = "position") -> None:
        """Talk to the robot at `address`."""
        self.joints = tuple(joints)
        self.commands: Commands = commands
        self._address, self._crc = address, joints_crc(joints)
        self._clock, self._numbers = WallClock(), itertools.count()
        self._socket: socket.socket | None = None
        self._greeted = self._heard = -np.inf
        self.refused = ""
        """What was wrong with packets of a robot that was not understood."""

    @property
    def ready(self) -> bool:
        """Whether readings come: a robot that tells of its joints takes commands."""
        return time.monotonic() - self._heard < SILENT

    def connect(self, stop: Stop) -> Clock:  # noqa: ARG002 - these packets have no stop of the robot's
        """Open a socket that takes packets of this robot alone."""
        self.close()
        try:
            family, kind, _, _, where = socket.getaddrinfo(
                self._address.host, self._address.port, type=socket.SOCK_DGRAM
            )[0]
            opened = socket.socket(family, kind)
            opened.connect(where)
        except OSError as error:
            raise Problem(f"there is no way to {self._address}: {error.strerror or error}") from error
        opened.setblocking(False)
        self._socket, self._greeted = opened, -np.inf
        return self._clock

    def observe(self, patience: float) -> Sequence[JointReading]:
        """The readings that came since the last call."""
        if self._socket is None:
            return ()
        if time.monotonic() - self._greeted > HELLO:
            self._greeted = time.monotonic()
            self._send("hello", np.empty(0))
        readings: list[JointReading] = []
        ready, _, _ = select.select([self._socket], [], [], patience)
        while ready and (packet := self._received()) is not None:
            if packet.kind == "reading" and self._understood(packet):
                n, self._heard = packet.count, time.monotonic()
                readings.append(JointReading(packet.stamp, self.joints, packet.values[:n], packet.values[n:]))
        return readings

    def command(self, values: Float, seconds: float, now: float) -> None:
        """Send the values, and for how long they count: the robot holds when that is over and no more came."""
        self._send("command", np.concatenate(([seconds], values)), now)

    def hold(self) -> None:
        """Have the robot hold by its own means."""
        self._send("hold", np.empty(0))

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, kind: Kind, values: Float, now: float | None = None) -> None:
        stamp = self._clock.now() if now is None else now
        packet = Packet(kind, self.commands, self._crc, len(self.joints), next(self._numbers), stamp, values)
        if self._socket is not None:
            try:
                self._socket.send(packed(packet))
            except OSError:  # nobody listens, or the network is gone: the watchdog sees that readings stop
                return

    def _received(self) -> Packet | None:
        """The next packet that is one; None when there is no more."""
        while self._socket is not None:
            try:
                data = self._socket.recv(MOST + 1)
            except BlockingIOError:
                return None
            except OSError:  # the robot's machine says that nobody listens there
                return None
            if (packet := unpacked(data)) is not None:
                return packet
        return None

    def _understood(self, packet: Packet) -> bool:
        """Whether the robot means the joints that we mean, and takes the commands that we give."""
        if packet.count != len(self.joints) or packet.joints != self._crc:
            self.refused = f"the robot at {self._address} has other joints than {', '.join(self.joints)}, in this order"
        elif packet.commands != self.commands:
            self.refused = f"the robot at {self._address} takes commands of {packet.commands}, not of {self.commands}"
        else:
            return True
        raise Problem(self.refused)
