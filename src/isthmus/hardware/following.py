"""Notices a joint that does not follow: its sensor is stuck, its driver repeats itself, or something is in its way."""

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
