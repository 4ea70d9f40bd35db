"""What a robot was told and where it went, as replays need it: one rate, joints by name, recordings kept apart."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float, Int, Problem
from isthmus.core.arrays import frozen


@dataclass(frozen=True)
class Recording:
    """Samples of n joints and m commands at one rate, in contiguous segments."""

    dt: float
    """Seconds between two samples."""
    joints: tuple[str, ...]
    """Names of the joints, as the robot's model has them (n,)."""
    actuators: tuple[str, ...]
    """Names of the actuators that the commands are for (m,)."""
    position: Float
    """(T, n) rad or m."""
    velocity: Float
    """(T, n) rad/s or m/s: the best estimate without delay, which is where replays begin."""
    command: Float
    """(T, m): what was sent at each sample, in the units of the model's actuators; it holds until the next."""
    starts: tuple[int, ...] = (0,)
    """The row at which each segment begins."""
    names: tuple[str, ...] = ()
    """The recording that each segment is from: recordings are held out as a whole."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together or hold numbers that are not finite."""
        size = len(self.position)
        try:
            for name, width in (
                ("position", len(self.joints)),
                ("velocity", len(self.joints)),
                ("command", len(self.actuators)),
            ):
                object.__setattr__(self, name, frozen(getattr(self, name), what=name, shape=(size, width)))
        except ValueError as error:
            raise Problem(f"this is not a recording of {len(self.joints)} joints: {error}") from error
        if not self.dt > 0:
            raise Problem(f"the time between two samples must be positive, got {self.dt}")
        if self.starts[:1] != (0,) or not all(np.diff([*self.starts, size]) > 0):
            raise Problem(f"segments must begin at row 0 and in rising order before row {size}, got {self.starts}")
        if not self.names:
            object.__setattr__(self, "names", tuple(str(number) for number in range(len(self.starts))))
        if len(self.names) != len(self.starts):
            raise Problem(f"{len(self.starts)} segments need as many names, got {len(self.names)}")

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.position)

    @property
    def seconds(self) -> float:
        """How long the recording is."""
        return len(self) * self.dt

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """First and last row of each segment, the last excluded."""
        return list(zip(self.starts, (*self.starts[1:], len(self)), strict=True))

    @property
    def motions(self) -> tuple[str, ...]:
        """The names of the recordings, each once."""
        return tuple(dict.fromkeys(self.names))

    def rows(self, first: int, last: int, name: str) -> "Recording":
        """The rows from `first` to before `last`, as one segment: they must not reach across a start."""
        cut = {key: getattr(self, key)[first:last] for key in ("position", "velocity", "command")}
        return replace(self, **cut, starts=(0,), names=(name,))

    def segments(self) -> list["Recording"]:
        """Each segment as a recording."""
        return [self.rows(first, last, name) for (first, last), name in zip(self.bounds, self.names, strict=True)]

    def only(self, motions: Sequence[str]) -> "Recording":
        """The recordings of these names."""
        return joined([one for one in self.segments() if one.names[0] in motions])

    def age(self) -> Int:
        """How many samples of its own segment came before each row (T,)."""
        rows = np.arange(len(self))
        starts = np.asarray(self.starts)
        return rows - starts[np.searchsorted(starts, rows, side="right") - 1]


def joined(recordings: Sequence[Recording]) -> Recording:
    """Several recordings of the same joints as one, their segments kept apart."""
    if not recordings:
        raise Problem("there is nothing to join: give at least one recording")
    first = recordings[0]
    for one in recordings[1:]:
        if (one.joints, one.actuators) != (first.joints, first.actuators):
            raise Problem(
                f"recordings of different joints cannot be joined: {', '.join((*one.joints, *one.actuators))} after "
                f"{', '.join((*first.joints, *first.actuators))}"
            )
        if abs(one.dt - first.dt) > 1e-3 * first.dt:
            raise Problem(
                f"recordings at different rates cannot be joined: {1 / one.dt:g} Hz after {1 / first.dt:g} Hz"
            )
    ends = np.cumsum([0, *(len(one) for one in recordings[:-1])])
    stacked = {
        key: np.concatenate([getattr(one, key) for one in recordings]) for key in ("position", "velocity", "command")
    }
    starts = tuple(int(end) + start for end, one in zip(ends, recordings, strict=True) for start in one.starts)
    return replace(first, **stacked, starts=starts, names=tuple(name for one in recordings for name in one.names))
