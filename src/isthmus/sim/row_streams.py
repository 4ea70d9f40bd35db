"""Random numbers for n worlds, each from a generator of its own."""

from collections.abc import Callable
from typing import final

import numpy as np

from isthmus.core import Float, Int, Rows

BLOCK = 512
"""About how many numbers a generator draws at once: one call a step and world would cost more than the physics."""


@final
class Streams:
    """What a world draws depends neither on the other worlds nor on how often they are stepped or reset."""

    def __init__(self, n: int, size: int, draw: Callable[[np.random.Generator, tuple[int, int]], Float]) -> None:
        """Set up n streams of rows of `size` numbers; `draw` makes an array of the shape it is given."""
        self._draw = draw
        self._steps = max(1, BLOCK // size)
        self._worlds = np.arange(n)
        self._generators = [np.random.default_rng(0)] * n
        self._block = (self._steps, size)
        self._drawn = np.empty((n, *self._block))
        self._next = np.full(n, self._steps)

    def begin(self, rng: np.random.Generator, rows: Rows) -> None:
        """Start new streams in `rows`."""
        worlds = self._worlds[rows]
        for world, seed in zip(worlds, rng.integers(2**63, size=len(worlds)), strict=True):
            self._generators[world] = np.random.default_rng(seed)
        self._next[rows] = self._steps

    def __call__(self, rows: Rows) -> Float:
        """The next numbers of the m worlds in `rows` (m, size)."""
        worlds: Int = self._worlds[rows]
        at = self._next[worlds]
        for world in worlds[at == self._steps]:
            self._drawn[world] = self._draw(self._generators[int(world)], self._block)
        at %= self._steps
        self._next[worlds] = at + 1
        return self._drawn[worlds, at]
