"""Tells readings of joint positions that can be true from those that cannot."""

import numpy as np

from isthmus.core import Float

STILL = 1e-3
"""Change of a reading, in rad, up to which a joint has not moved."""
FAR = 0.5
"""How many steps at its speed limit the command of a joint may range over while the joint does not move."""
LOOKS = 3
"""How often a joint must have been found where it was: one that begins to move, or turns round, takes a little."""


class Following:
    """Compares how far each command has moved with how far its joint has."""

    def __init__(self, steps: Float, names: tuple[str, ...] = ()) -> None:
        """Take the joints' steps at their speed limits (act,), and what messages call the joints."""
        self._far, self._names = FAR * steps, names
        self._positions: Float | None = None
        self._least, self._most = np.zeros_like(steps), np.zeros_like(steps)
        self._looks = np.zeros(len(steps), np.int64)

    def begin(self) -> None:
        """Commands are given anew, from wherever the joints are."""
        self._positions = None

    def fault(self, commands: Float, positions: Float) -> str:
        """What is wrong, with the joints read at `positions` (act,) after `commands` (act,); empty if nothing is."""
        if self._positions is None:
            self._positions, self._least, self._most = positions.copy(), commands.copy(), commands.copy()
            self._looks[:] = 0
            return ""
        moved = np.abs(positions - self._positions) > STILL
        self._positions = np.where(moved, positions, self._positions)
        self._least = np.where(moved, commands, np.minimum(self._least, commands))
        self._most = np.where(moved, commands, np.maximum(self._most, commands))
        self._looks = np.where(moved, 0, self._looks + 1)
        beyond = np.where(self._looks < LOOKS, 0.0, self._most - self._least - self._far)
        if not (beyond > 0).any():
            return ""
        joint = int(np.argmax(beyond))
        name = self._names[joint] if self._names else f"joint {joint}"
        return (
            f"{name} does not follow: it reads {positions[joint]:.4g} as before, "
            f"while its commands were from {self._least[joint]:.4g} to {self._most[joint]:.4g}"
        )


MARGIN = 0.05
"""Share of a joint's range by which a reading may lie outside: joints overshoot, and encoders are offset a little."""
FASTER = 1.5
"""How many times its speed limit a joint may move: a drive overshoots, and a person pushes it."""
JITTER = 0.03
"""Seconds by which the time between two readings may seem shorter than it was: they queue up on their way here."""
MEASURED = 3.0
"""How many times its speed limit a velocity may be. It is measured over few steps of an encoder, and is noisier than
the position: backlash that snaps from one side to the other is a short peak."""


class ReadingCheck:
    """Compares each reading of the joints with their ranges, and with the last one that could be true."""

    def __init__(self, low: Float, high: Float, speeds: Float, names: tuple[str, ...] = ()) -> None:
        """Take the joints' ranges and speed limits, each (act,), and what messages call the joints."""
        width = high - low
        self._low, self._high, self._names = low - MARGIN * width, high + MARGIN * width, names
        self._speeds = speeds
        self._positions: Float | None = None
        self._at = 0.0
        self.faults = 0
        """Readings that could not be true."""

    def fault(self, positions: Float, velocities: Float, at: float) -> str:
        """What is wrong with a reading (act,) that arrived `at` so many seconds; empty if it can be true."""
        why = self._implausible(positions, velocities, at)
        if why:
            self.faults += 1
        else:
            self._positions, self._at = positions, at
        return why

    def forget(self) -> None:
        """Take the next reading within the ranges as it is: the robot was away, or somebody moved it."""
        self._positions = None

    def _implausible(self, positions: Float, velocities: Float, at: float) -> str:
        if not (np.isfinite(positions).all() and np.isfinite(velocities).all()):
            joint = int(np.argmin(np.isfinite(positions) & np.isfinite(velocities)))
            reading = f"reads {positions[joint]:.4g} at {velocities[joint]:.4g} a second"
            return f"{self._name(joint)} {reading}, which is no number"
        outside = np.maximum(self._low - positions, positions - self._high)
        if (outside > 0).any():
            joint = int(np.argmax(outside))
            return (
                f"{self._name(joint)} reads {positions[joint]:.4g}, "
                f"outside its range of {self._low[joint]:.4g} to {self._high[joint]:.4g}"
            )
        coarse = np.abs(velocities) - MEASURED * self._speeds
        if (coarse > 0).any():
            joint = int(np.argmax(coarse))
            return (
                f"{self._name(joint)} reads a velocity of {velocities[joint]:.4g}, "
                f"above {MEASURED:g} times its limit of {self._speeds[joint]:.4g}"
            )
        return self._jump(positions, at)

    def _jump(self, positions: Float, at: float) -> str:
        if self._positions is None:
            return ""
        since = max(at - self._at, 0.0)
        possible = FASTER * self._speeds * (since + JITTER)
        beyond = np.abs(positions - self._positions) - possible
        if not (beyond > 0).any():
            return ""
        joint = int(np.argmax(beyond))
        return (
            f"{self._name(joint)} reads {positions[joint]:.4g} after {self._positions[joint]:.4g}, "
            f"further than the {possible[joint]:.2g} that it can have moved in {since:.3f} s"
        )

    def _name(self, joint: int) -> str:
        return self._names[joint] if self._names else f"joint {joint}"
