"""The robot's end of the UDP packets, as a simulated robot has it: a real one does the same in its firmware."""

import itertools
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from isthmus.core import Float, Problem
from isthmus.hardware.driver import Commands, JointReading, columns
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.server import Hear
from isthmus.hardware.udp.address import UdpAddress
from isthmus.hardware.udp.wire import MOST, Packet, joints_crc, packed, unpacked

LISTEN = 0.1
"""Seconds after which whoever listens looks up."""
GONE = 1.0
"""Seconds of silence after which a controller is gone, and another may take over."""


class UdpServer:
    """Tells one controller at a time of the joints, and takes its commands."""

    def __init__(self, address: UdpAddress, joints: Sequence[str], commands: Commands = "position") -> None:
        """Listen at `address`."""
        self._joints, self._crc = tuple(joints), joints_crc(joints)
        self._commands: Commands = commands
        self._numbers, self._over = itertools.count(), threading.Event()
        family, kind, _, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)[0]
        self._socket = socket.socket(family, kind)
        try:
            self._socket.bind(where)
        except OSError as error:
            self._socket.close()
            raise Problem(f"a robot cannot listen at {address}: {error.strerror or error}") from error
        self._socket.setblocking(False)
        self._controller: Any = None
        self._last, self._heard = -1, -np.inf

    def open(self, hear: Hear, be_fast: Callable[[float], None], *, simulated: bool) -> None:  # noqa: ARG002
        """Take commands from now on."""
        self.go_simulated(simulated=simulated)
        self._hear = hear
        self._thread = threading.Thread(target=self._listen, name="commands", daemon=True)
        self._thread.start()

    def go_simulated(self, *, simulated: bool) -> None:
        """Refuse a time of its own, which these packets cannot tell."""
        if simulated:
            raise Problem("a robot over UDP lives in real time: its speed is 1")

    def tell_joints(self, reading: JointReading, efforts: Float) -> None:  # noqa: ARG002 - packets have none
        """Send a reading to the controller there is."""
        where = columns(reading.names, self._joints)
        if self._controller is None or where is None:
            return
        values = np.concatenate((reading.positions[where], reading.velocities[where]))
        packet = Packet(
            "reading", self._commands, self._crc, len(self._joints), next(self._numbers), reading.stamp, values
        )
        try:
            self._socket.sendto(packed(packet), self._controller)
        except OSError:
            return

    def tell_time(self, now: float) -> None:
        """Tell nothing: the time is the wall's."""

    def close(self) -> None:
        """Stop listening."""
        self._over.set()
        self._thread.join(1.0)
        self._socket.close()

    def _listen(self) -> None:
        while not self._over.is_set():
            if not select.select([self._socket], [], [], LISTEN)[0]:
                continue
            try:
                data, sender = self._socket.recvfrom(MOST + 1)
            except OSError:
                continue
            packet = unpacked(data)
            if packet is not None and self._is_the_controller(packet, sender):
                self._take(packet)

    def _is_the_controller(self, packet: Packet, sender: object) -> bool:
        """Whether it comes from whom we obey; a second controller has to wait until the first is gone."""
        now = time.monotonic()
        if sender != self._controller:
            if now - self._heard < GONE:
                return False
            self._controller, self._last = sender, -1
        self._heard = now
        if packet.number <= self._last and packet.kind != "hold":  # a hold counts, however late it comes
            return False
        self._last = max(self._last, packet.number)
        return True

    def _take(self, packet: Packet) -> None:
        if packet.kind == "hold":
            self._hear(Cancel())
        elif packet.kind == "command" and packet.joints == self._crc and packet.commands == self._commands:
            point = (float(packet.values[0]), packet.values[1:])
            self._hear(Goal("", self._joints, (point,), packet.stamp))
