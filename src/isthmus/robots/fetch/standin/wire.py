"""The way of a message: some time, never the same, and still in order."""

from collections import deque
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class Wire(Generic[T]):
    """Messages that arrive `latency` seconds later, and `jitter` more on average."""

    def __init__(self, latency: float, jitter: float, rng: np.random.Generator) -> None:
        """Nothing is on its way yet."""
        self._latency, self._jitter, self._rng = latency, jitter, rng
        self._under_way: deque[tuple[float, T]] = deque()

    def send(self, message: T, now: float) -> None:
        """Put a message on its way; it arrives after those before it."""
        arrives = now + self._latency + float(self._rng.exponential(self._jitter))
        last = self._under_way[-1][0] if self._under_way else arrives
        self._under_way.append((max(arrives, last), message))

    def arrived(self, now: float) -> list[T]:
        """What is there by now, in order."""
        there: list[T] = []
        while self._under_way and self._under_way[0][0] <= now:
            there.append(self._under_way.popleft()[1])
        return there
