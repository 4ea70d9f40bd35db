"""What can go wrong with the messages of a robot, on purpose: for tests of whoever listens."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from isthmus.core import check_settings
from isthmus.hardware.driver import JointReading

Wrong = Literal["none", "jump", "outside", "huge", "nan", "velocity", "stuck", "swapped", "repeated"]
PAN, ROLL, ELBOW = -7, -5, -4
"""Shoulder pan, upper arm roll and elbow flex among the joints of a reading, of which the arm's are the last seven."""
Spoil = Callable[[JointReading, JointReading], JointReading]
"""From a reading, and the one with which the faults began, to the one that is reported."""


def _placed(joint: int, moved: Callable[[float], float]) -> Spoil:
    def spoil(reading: JointReading, _first: JointReading) -> JointReading:
        positions = reading.positions.copy()
        positions[joint] = moved(float(positions[joint]))
        return replace(reading, positions=positions)

    return spoil


def _too_fast(reading: JointReading, _first: JointReading) -> JointReading:
    velocities = reading.velocities.copy()
    velocities[PAN] = 1e300
    return replace(reading, velocities=velocities)


def _stuck(reading: JointReading, first: JointReading) -> JointReading:
    positions, velocities = reading.positions.copy(), reading.velocities.copy()
    positions[ROLL], velocities[ROLL] = first.positions[ROLL], 0.0
    return replace(reading, positions=positions, velocities=velocities)


def _swapped(reading: JointReading, _first: JointReading) -> JointReading:
    order = np.arange(len(reading.positions))
    order[[PAN, ELBOW]] = order[[ELBOW, PAN]]
    return replace(reading, positions=reading.positions[order], velocities=reading.velocities[order])


def _repeated(reading: JointReading, first: JointReading) -> JointReading:
    return replace(reading, positions=first.positions, velocities=first.velocities)


WRONGS: dict[str, Spoil] = {
    "jump": _placed(PAN, lambda at: at - 1.0 if at > 0 else at + 1.0),
    "outside": _placed(ELBOW, lambda at: at + 5.0),
    "huge": _placed(PAN, lambda _at: 1e300),
    "nan": _placed(PAN, lambda _at: np.nan),
    "velocity": _too_fast,
    "stuck": _stuck,
    "swapped": _swapped,
    "repeated": _repeated,
}


@dataclass(frozen=True)
class FaultSettings:
    """Shares of the messages, and seconds."""

    drop: float = 0.0
    """Share of joint states and commands that get lost."""
    delay: float = 0.0
    """Seconds that joint states are late, at most: each by another time."""
    reorder: float = 0.0
    """Share of joint states that are overtaken by the next one."""
    nan: float = 0.0
    """Share of joint states with a position that is not a number."""
    wrong_name: float = 0.0
    """Share of joint states that name a joint wrongly."""
    clock: float = 0.0
    """Seconds that the stamps are ahead of the time; behind it where negative."""
    wrong: Wrong = "none"
    """What is wrong with the readings: a position that is 1 rad off, outside its range, 1e300 or no number, a velocity
    of 1e300, a sensor that is stuck, two joints that are swapped, or old readings that are repeated."""
    share: float = 1.0
    """Share of the readings in which that is wrong."""
    silent: bool = False
    """Tell nothing of the joints, but take commands and follow them."""
    cut: bool = False
    """Nothing comes and nothing goes: the network is gone."""
    on_signal: bool = False
    """Begin with the faults when the process gets SIGUSR1, and end them when it gets SIGUSR2."""

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        shares = ("drop", "delay", "reorder", "nan", "wrong_name", "share")
        check_settings((f"faults.{name}", getattr(self, name), 0 <= getattr(self, name) <= 1) for name in shares)
        check_settings([("faults.clock", self.clock, abs(self.clock) <= 1e6)])


class Faults:
    """Spoils messages."""

    def __init__(self, settings: FaultSettings, seed: int) -> None:
        """Draw from streams of its own, so that the robot is the same with faults and without.

        Commands have a stream apart from readings: which of them get lost does not depend on how many readings
        went out in between.
        """
        self._settings = settings
        self._rng, self._commands = np.random.default_rng((seed, 1)), np.random.default_rng((seed, 2))
        self._held_back: JointReading | None = None
        self._first: JointReading | None = None
        self._on = not settings.on_signal

    def have(self, *, wanted: bool) -> None:
        """From now on things go wrong, or right again."""
        self._on, self._first = wanted, None

    @property
    def cut(self) -> bool:
        """Whether the network is gone."""
        return self._on and self._settings.cut

    def command_lost(self) -> bool:
        """Whether the next command gets lost."""
        return self.cut or (self._on and bool(self._commands.random() < self._settings.drop))

    def delay(self) -> float:
        """Seconds that the next joint state is late."""
        return float(self._rng.uniform(0, self._settings.delay)) if self._settings.delay else 0.0

    def spoiled(self, reading: JointReading) -> Iterator[JointReading]:
        """What is sent in place of a joint state, in order."""
        settings = self._settings
        if not self._on:
            yield reading
            return
        if settings.silent or settings.cut or self._hit(settings.drop):
            return
        self._first = self._first or reading
        if settings.wrong in WRONGS and self._hit(settings.share):
            reading = WRONGS[settings.wrong](reading, self._first)
        reading = replace(reading, stamp=reading.stamp + settings.clock)
        if self._hit(settings.nan):
            positions = reading.positions.copy()
            positions[self._rng.integers(len(positions))] = np.nan
            reading = replace(reading, positions=positions)
        if self._hit(settings.wrong_name):
            reading = replace(reading, names=(*reading.names[:-1], f"{reading.names[-1]}_x"))
        late, self._held_back = self._held_back, None
        if late is None and self._hit(settings.reorder):
            self._held_back = reading
            return
        yield reading
        if late is not None:
            yield late

    def _hit(self, share: float) -> bool:
        return share > 0 and bool(self._rng.random() < share)
