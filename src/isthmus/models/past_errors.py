"""What the last steps tell: the commands that may still be on their way, and a disturbance that lasts."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Bool, Float, History, WorldSpec
from isthmus.models.explain import Explainer
from isthmus.models.saturation import HEAP


@dataclass(frozen=True)
class CommandErrors:
    """What commands (..., act) came to, less what they were."""

    values: Float
    """In half ranges (..., act)."""
    told: Bool
    """Where the error is known (..., act)."""
    bounds: Bool
    """Where it is known to be at least as large as `values`, with the same sign (..., act)."""

    @staticmethod
    def of(spec: WorldSpec, actions: Float, explained: Float) -> "CommandErrors":
        """The errors of actions (..., act).

        One at its limit may have been meant to go beyond, and an effect at the limit may have been cut off there: one
        of them alone tells a bound, both tell nothing.
        """
        half = spec.half_range
        inside = np.abs(actions) < half * (1 - 1e-9)
        cut = np.abs(np.abs(explained) / half - 1) < HEAP
        return CommandErrors((explained - actions) / half, inside & ~cut, inside == cut)

    def known_where(self, there: Bool) -> "CommandErrors":
        """The same, but telling nothing elsewhere."""
        return CommandErrors(self.values, self.told & there, self.bounds & there)

    def summary(self) -> Float:
        """The latest error and the mean of those that were told, for each actuator: (n, steps, act) to (n, 2 act)."""
        n, steps, act = self.values.shape
        latest = np.zeros((n, act))
        for step in range(steps):
            new = self.values[:, step]
            beyond = np.where(new > 0, np.maximum(latest, new), np.minimum(latest, new))
            latest = np.where(self.told[:, step], new, np.where(self.bounds[:, step], beyond, latest))
        mean = (self.values * self.told).sum(axis=1) / np.maximum(self.told.sum(axis=1), 1)
        return np.concatenate((latest, mean), axis=1)


def past_features(spec: WorldSpec, actions: Float, explained: Float, there: Bool) -> Float:
    """What the last actions (n, steps, act) were and came to, for those steps that are `there` (n, steps, 1)."""
    known = CommandErrors.of(spec, actions, explained).known_where(there).summary()
    return np.concatenate((known, (actions / spec.half_range).reshape(len(actions), -1)), axis=1)


def recorded_past(spec: WorldSpec, actions: Float, explained: Float, steps: int) -> Float:
    """The features of every step of a trajectory (T, act), of the `steps` steps before it (T, features)."""

    def windows(rows: np.ndarray) -> np.ndarray:
        led = np.pad(rows, ((steps, 0), (0, 0)))[:-1]  # before its first step a history has zeros
        return np.lib.stride_tricks.sliding_window_view(led, steps, axis=0).transpose(0, 2, 1)

    if not steps:
        return np.empty((len(actions), 0))
    there = np.ones((len(actions), 1), np.bool_)
    return past_features(spec, windows(actions), windows(explained), windows(there))


class PastErrors:
    """The features of n running histories. It remembers the last ones, since a window moves by one step at a time."""

    def __init__(self, spec: WorldSpec, explainer: Explainer) -> None:
        """Start with no memory."""
        self._spec, self._explainer = spec, explainer
        self._seen: Float = np.empty((0, 0, 0))
        self._explained: Float = np.empty((0, 0, 0))

    def __call__(self, history: History) -> Float:
        """(n, features); none when the history is a single observation."""
        seen, done = history.observations, history.actions
        n, steps = done.shape[:2]
        if not steps:
            return np.empty((n, 0))
        moved = self._seen.shape == seen.shape and np.array_equal(self._seen[:, 1:], seen[:, :-1])
        fresh = slice(steps - 1, steps) if moved else slice(0, steps)
        explained = np.roll(self._explained, -1, axis=1) if moved else np.empty_like(done)
        now, then, given = (part[:, fresh].reshape(-1, part.shape[2]) for part in (seen[:, :-1], seen[:, 1:], done))
        explained[:, fresh] = self._explainer(now, then, given, iterations=1).reshape(n, -1, done.shape[2])
        self._seen, self._explained = seen.copy(), explained
        there = (seen[:, 1:] != seen[:, :-1]).any(axis=2)[..., None]  # before its first step a history repeats itself
        return past_features(self._spec, done, explained, there)
