"""A reference: what is to be seen, as recorded observations without actions, and where a robot is along them.

Observations may come from another simulator, from motion capture or from a demonstration. A phase is the index of the
recorded observation that a robot is at. The phase is explicit state, so that it belongs to whoever runs a policy.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.core import Float, Int, Problem, WorldSpec
from isthmus.core.arrays import frozen
from isthmus.core.metric import Metric

SHORTEST = 3
"""Observations of a track."""
WINDOW = 5
"""Recorded steps to each side of the expected one in which a robot is looked for."""
LOST = 1.0
"""Distance from the nearest state in the window, in steps of the reference, from which on all tracks are searched."""
CLOSER = 0.5
"""A state elsewhere is taken if it is at most this share of that distance away."""
SHORTEST_LOOP, LOOP_ENDS = 10, 0.25
"""Steps of a loop at least, and the share of a track that its last step is looked for in."""
CLOSED = 1.0
"""Distance between the two ends of a loop at most, in steps of the reference."""
CONSTANT_SHARE = 0.1
"""A difference of this share of its deviation between tracks, in what is constant along a track, counts as a step."""
FOUND_NOWHERE = -1
"""The phase of a robot that begins an episode."""


@dataclass(frozen=True)
class Reference:
    """Recorded observations, one control period apart; a track is one uninterrupted recording."""

    tracks: tuple[Float, ...]
    """Each (T + 1, obs)."""

    def __post_init__(self) -> None:
        """Refuse tracks that are too short, of different widths, or not finite."""
        if not self.tracks:
            raise Problem("a reference needs at least one recorded episode")
        width = self.tracks[0].shape[-1]
        for number, track in enumerate(self.tracks):
            if track.ndim != 2 or track.shape[1] != width:
                raise Problem(f"episode {number} of the reference has the shape {track.shape}, expected (T, {width})")
            if len(track) < SHORTEST:
                raise Problem(
                    f"episode {number} of the reference has {len(track)} observations, at least {SHORTEST} are needed"
                )
            if not np.isfinite(track).all():
                row, column = np.argwhere(~np.isfinite(track))[0]
                raise Problem(
                    f"episode {number} of the reference is not a finite number in row {row}, column {column}: cut the "
                    "episode there, or fill in what is missing"
                )
        kept = tuple(frozen(track, what="track", shape=(None, width)) for track in self.tracks)
        object.__setattr__(self, "tracks", kept)

    def is_same(self, other: "Reference") -> bool:
        """Whether the two have the same tracks."""
        return len(self.tracks) == len(other.tracks) and all(map(np.array_equal, self.tracks, other.tracks))

    @cached_property
    def observations(self) -> Float:
        """All tracks, one after the other (m, obs)."""
        return np.concatenate(self.tracks)

    @property
    def steps(self) -> tuple[Float, Float]:
        """All recorded steps: observations before and after, each (m - tracks, obs)."""
        return np.concatenate([one[:-1] for one in self.tracks]), np.concatenate([one[1:] for one in self.tracks])

    @cached_property
    def step_scale(self) -> Float:
        """How much each observation changes in a step (obs,), root mean square.

        What is constant along every track, such as a goal, is scaled by how much it differs between them.
        """
        before, after = self.steps
        change: Float = np.sqrt(np.square(after - before).mean(axis=0))
        between: Float = CONSTANT_SHARE * self.observations.std(axis=0)
        scale = np.asarray(np.where(change > 0, change, between), np.float64)
        return np.where(scale > 0, scale, 1.0)

    def even_metric(self, spec: WorldSpec) -> Metric:
        """All targets count alike, in steps of the reference."""
        before, after = self.steps
        change = np.sqrt(np.square(after - before).mean(axis=0))[spec.targets]
        return Metric.even(spec.targets, np.where(change > 0, change, 1.0))


def compared_dimensions(spec: WorldSpec) -> Int:
    """Observation dimensions by which a robot is found along a reference.

    These are the targets, and what is the task's own: a clock, a goal. What is sensed and is no target, such as how
    far a walker has come, grows without bound and is left out.
    """
    own = np.setdiff1d(np.arange(spec.observation_size), spec.robot_dimensions)
    return np.union1d(spec.targets, own)


class Phases:
    """Finds where robots are along a reference, and what they are to see next."""

    def __init__(self, reference: Reference, spec: WorldSpec, pull: float = 1.0) -> None:
        """Go back to the reference by the share `pull` of what a robot is off; 1 wants the next recorded state."""
        self._compared = compared_dimensions(spec)
        self._scale = reference.step_scale[self._compared]
        self._seen = reference.observations
        self._features = self._seen[:, self._compared] / self._scale  # (m, d)
        lengths = [len(track) for track in reference.tracks]
        ends = np.cumsum(lengths)
        self._begins: Int = np.repeat(ends - lengths, lengths).astype(np.int64)
        self.successor: Int = np.arange(1, len(self._seen) + 1)
        """The phase after each phase (m,): the next recorded one, the start of a loop, or itself at the end."""
        self.successor[ends - 1] = ends - 1
        self.loops: dict[int, int] = {}
        """The phase that ends a loop of a track, and the one that is as good as it."""
        for begin, end in zip(ends - lengths, ends, strict=True):
            if (loop := self._loop(int(begin), int(end))) is not None:
                self.loops[loop[1]] = loop[0]
                self.successor[loop[1]] = loop[0] + 1
        moved = self._seen[self.successor] - self._seen[np.maximum(self.successor - 1, 0)]
        self._change = np.where((self.successor == np.arange(len(moved)))[:, None], 0.0, moved)
        self._pull = np.zeros(self._seen.shape[1])
        self._pull[self._compared] = pull

    def find(self, observations: Float, before: Int) -> Int:
        """The phases (n,) of robots that see `observations` (n, obs) and had the phases `before` (n,)."""
        features = observations[:, self._compared] / self._scale
        phase, near = np.zeros(len(before), np.int64), np.full(len(before), np.inf)
        goes_on = before != FOUND_NOWHERE
        if goes_on.any():
            around = self._around(before[goes_on])  # (k, window)
            off = np.square(self._features[around] - features[goes_on, None]).mean(axis=2)
            best = off.argmin(axis=1)
            rows = np.arange(len(best))
            phase[goes_on], near[goes_on] = around[rows, best], off[rows, best]
        for row in np.flatnonzero(near > LOST**2):
            off = np.square(self._features - features[row]).mean(axis=1)
            best = int(off.argmin())
            if off[best] <= CLOSER**2 * near[row]:
                phase[row] = best
        return phase

    def wanted(self, observations: Float, phase: Int) -> Float:
        """What robots at `phase` (n,) that see `observations` are to see next, each (n, obs)."""
        moved = observations + self._change[phase]
        return moved + self._pull * (self._seen[self.successor[phase]] - moved)

    def next_recorded(self, phase: Int) -> Float:
        """The recorded observations (n, obs) after those at `phase` (n,)."""
        return self._seen[self.successor[phase]]

    def distance(self, observations: Float, phase: Int) -> Float:
        """How far observations (n, obs) are from the reference at `phase`, in its steps (n,)."""
        off = self._features[phase] - observations[:, self._compared] / self._scale
        return np.sqrt(np.square(off).mean(axis=1))

    def _around(self, before: Int) -> Int:
        """The phases (n, window) about the one that is expected after `before` (n,)."""
        expected = self.successor[before]
        around = [expected]
        ahead = expected
        for _ in range(WINDOW):
            ahead = self.successor[ahead]
            around.append(ahead)
        around += [np.maximum(expected - back, self._begins[expected]) for back in range(1, WINDOW + 1)]
        return np.stack(around, axis=1)

    def _loop(self, begin: int, end: int) -> tuple[int, int] | None:
        """Two phases of the track from `begin` to before `end` that are alike: the loop's start, and its end.

        The steps that lead to them have to be alike too: a motion that goes back the way it came is no loop.
        """
        last = np.arange(max(begin + SHORTEST_LOOP, end - max(int(LOOP_ENDS * (end - begin)), 1)), end)
        if not len(last):
            return None
        first = np.arange(begin + 1, int(last[-1]) - SHORTEST_LOOP + 1)
        if not len(first):
            return None
        now, before = (self._features[last - k][:, None] - self._features[first - k] for k in (0, 1))
        # (last, first): how far the two states are apart, or the steps to them.
        off = np.sqrt(np.maximum(np.square(now).mean(axis=2), np.square(now - before).mean(axis=2)))
        off[last[:, None] - first < SHORTEST_LOOP] = np.inf
        at = np.unravel_index(int(off.argmin()), off.shape)
        return (int(first[at[1]]), int(last[at[0]])) if off[at] <= CLOSED else None
