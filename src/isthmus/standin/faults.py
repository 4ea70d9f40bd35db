"""What can go wrong with the messages of a robot, on purpose: for tests of whoever listens."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import check_settings
from isthmus.ros.messages import JointReading


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

    def __post_init__(self) -> None:
        """Refuse shares that are none."""
        check_settings((f"faults.{name}", value, 0 <= value <= 1) for name, value in vars(self).items())


class Faults:
    """Spoils messages."""

    def __init__(self, settings: FaultSettings, seed: int) -> None:
        """Draw from a stream of its own, so that the robot is the same with faults and without."""
        self._settings, self._rng = settings, np.random.default_rng((seed, 1))
        self._held_back: JointReading | None = None

    def command_lost(self) -> bool:
        """Whether the next command gets lost."""
        return self._hit(self._settings.drop)

    def delay(self) -> float:
        """Seconds that the next joint state is late."""
        return float(self._rng.uniform(0, self._settings.delay)) if self._settings.delay else 0.0

    def spoiled(self, reading: JointReading) -> Iterator[JointReading]:
        """What is sent in place of a joint state, in order."""
        settings = self._settings
        if self._hit(settings.drop):
            return
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
