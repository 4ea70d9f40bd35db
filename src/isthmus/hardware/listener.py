"""What the arm says of itself, and which of it is believed."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.hardware.clock import SYNCHRONISED, ClockOffset
from isthmus.hardware.driver import JointReading, columns
from isthmus.hardware.readings import ReadingCheck

IN_A_ROW = 10
"""Readings of no use one after another, after which the robot is given up. A tenth of a second at a Fetch's 100 Hz:
longer than the arm goes on without a reading, and shorter than a silent robot takes to be noticed."""
ANEW = 1.0
"""Seconds that a simulated clock goes back when the robot began anew."""


@dataclass(frozen=True)
class Heard:
    """The latest that is known of the arm."""

    stamp: float
    """When it was measured: by the robot's stamp, on our clock."""
    positions: Float
    """In our order of the joints (act,)."""
    velocities: Float
    arrived: float = 0.0
    """When it came here, by this machine's own clock, which no other machine sets."""


@dataclass
class Traffic:
    """What came over the wire, and what of it was of no use."""

    received: int = 0
    disordered: int = 0
    """Older than what was there already."""
    broken: int = 0
    """Not finite, or too short."""
    foreign: int = 0
    """Without our joints: other parts of a robot speak on the same topic."""
    implausible: int = 0
    """That cannot be true: out of range, or further than a joint moves in the time."""
    misdated: int = 0
    """Stamped later than they arrived, or by a clock that was refused."""

    @property
    def dropped(self) -> float:
        """Share of the readings of our joints that were of no use."""
        ours = self.received - self.foreign
        return (self.disordered + self.broken + self.implausible + self.misdated) / ours if ours else 0.0

    def to_json(self) -> dict[str, float]:
        """As plain data."""
        return vars(self) | {"share_dropped": self.dropped}


class Listener:
    """Keeps the latest reading that can be true; the others are counted by what is wrong with them."""

    def __init__(self, joints: Sequence[str], check: ReadingCheck | None, *, dated_by_us: bool) -> None:
        """Listen for `joints`. In simulated time stamps are all there is; else they are compared with our clock."""
        self._joints, self._check, self._dated_by_us = tuple(joints), check, dated_by_us
        self._lock = threading.Lock()
        self._heard: Heard | None = None
        self._in_a_row, self._why = 0, ""
        self.traffic, self.offset = Traffic(), ClockOffset()

    @property
    def heard(self) -> Heard | None:
        """The latest reading of use."""
        with self._lock:
            return self._heard

    @property
    def fault(self) -> str:
        """What is wrong with the robot's clock, or with the last readings, none of which was of use."""
        if self._in_a_row < IN_A_ROW:
            return ""
        return self.offset.fault or f"{self._why} ({self._in_a_row} readings in a row were of no use)"

    def follow_clock(self) -> None:
        """Take over what the clocks have drifted apart."""
        with self._lock:
            self.offset.follow()

    def forget(self) -> None:
        """Listen to a robot that may be another one."""
        with self._lock:
            self._heard, self.offset, self._in_a_row = None, ClockOffset(), 0
            if self._check is not None:
                self._check.forget()

    def take(self, reading: JointReading, arrived: float) -> None:
        """Judge a reading that came at `arrived`, by this machine's own clock."""
        where = columns(reading.names, self._joints)
        with self._lock:
            traffic = self.traffic
            traffic.received += 1
            if where is None:
                traffic.foreign += 1
                return
            if len(reading.names) != len(reading.positions):
                traffic.broken += 1
                self._drop("a reading has not as many positions as names")
                return
            if self._dated_by_us:
                self.offset.add(reading.stamp, arrived)
                if self.offset.ahead is None:
                    return
            stamp = reading.stamp - (self.offset.ahead or 0.0)
            self._judge(Heard(stamp, reading.positions[where], reading.velocities[where], arrived))

    def _judge(self, heard: Heard) -> None:
        """Keep what was heard, or count it by the first thing that is wrong with it."""
        traffic = self.traffic
        if wrong := self._broken(heard):
            traffic.broken += 1
        elif wrong := self._misdated(heard):
            traffic.misdated += 1
        elif wrong := self._older(heard):
            traffic.disordered += 1
        elif wrong := self._implausible(heard):
            traffic.implausible += 1
        if wrong:
            self._drop(wrong)
        else:
            self._heard, self._in_a_row = heard, 0

    def _drop(self, why: str) -> None:
        self._in_a_row, self._why = self._in_a_row + 1, why

    def _broken(self, heard: Heard) -> str:
        number = np.isfinite(heard.positions) & np.isfinite(heard.velocities)
        if number.all():
            return ""
        joint = int(np.argmin(number))
        reading = f"reads {heard.positions[joint]:g} rad at {heard.velocities[joint]:g} rad/s"
        return f"{self._joints[joint]} {reading}, which is no number"

    def _misdated(self, heard: Heard) -> str:
        if not self._dated_by_us:
            return ""
        early = heard.stamp - heard.arrived
        if self.offset.fault or early <= SYNCHRONISED:
            return self.offset.fault
        return f"a reading is stamped {early:.3f} s later than it came: the robot's clock has jumped"

    def _older(self, heard: Heard) -> str:
        """Late messages are of no use; a simulated clock that went back by seconds is of a robot that began anew."""
        last = self._heard
        if last is None or heard.stamp > last.stamp:
            return ""
        if not self._dated_by_us and heard.stamp <= last.stamp - ANEW:
            if self._check is not None:
                self._check.forget()
            return ""
        return f"a reading is stamped {last.stamp - heard.stamp:.3f} s before the one that came before it"

    def _implausible(self, heard: Heard) -> str:
        if self._check is None:
            return ""
        at = heard.arrived if self._dated_by_us else heard.stamp
        return self._check.fault(heard.positions, heard.velocities, at)
