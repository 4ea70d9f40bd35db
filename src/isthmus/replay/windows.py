"""Where replays of a recording begin, and how long they are."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int, Problem
from isthmus.replay.recording import Recording


@dataclass(frozen=True)
class Windows:
    """W replays of equal length."""

    first: Int
    """(W,): the row at which each begins."""
    length: int
    """Samples of each, the first included."""

    def __len__(self) -> int:
        """How many replays there are."""
        return len(self.first)

    @property
    def rows(self) -> Int:
        """(W, length): the rows of every replay."""
        return self.first[:, None] + np.arange(self.length)

    def of(self, values: Float) -> Float:
        """The part (W, length, k) of values (T, k) that is replayed."""
        return values[self.rows]

    def thinned(self, most: int) -> "Windows":
        """At most so many of them, evenly spread."""
        if len(self) <= most:
            return self
        chosen = np.unique(np.linspace(0, len(self) - 1, most).round().astype(np.int64))
        return Windows(self.first[chosen], self.length)


def windows(recording: Recording, seconds: float, overlap: float = 0.0) -> Windows:
    """Windows one after the other in every segment, each sharing `overlap` of its length with the next.

    What is left over at the end of a segment is covered by one that overlaps more.
    """
    length = max(2, round(seconds / recording.dt) + 1)
    step = max(1, round((length - 1) * (1 - overlap)))
    first: list[int] = []
    for start, end in recording.bounds:
        if end - start < length:
            continue
        rows = list(range(start, end - length + 1, step))
        if end - length - rows[-1] > length // 4:
            rows.append(end - length)
        first += rows
    if not first:
        longest = max(end - start for start, end in recording.bounds) * recording.dt
        raise Problem(f"a replay of {seconds:g} s does not fit into recordings of at most {longest:.2g} s")
    return Windows(np.array(first, np.int64), length)


def fits(recording: Recording, seconds: float) -> bool:
    """Whether any segment is long enough for a replay of so many seconds."""
    return max(end - start for start, end in recording.bounds) > round(seconds / recording.dt)
