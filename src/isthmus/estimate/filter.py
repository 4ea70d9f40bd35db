"""What an estimator is: a pure function from its state, an action and what the sensors show to the next state."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from isthmus.core import Float, Int, PolicyState

BEGUN, ESTIMATE, PENDING = "estimator begun", "estimator estimate", "estimator pending"
"""Names in the state of a filter: whether an episode has begun (n,), the estimate (n, obs), and the actions whose
effect the sensors do not show yet (n, delay, act), oldest first."""


class Filter(Protocol):
    """Estimates observations of n robots. `update` is pure: whoever runs the filter holds its state."""

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        ...

    def update(self, state: PolicyState, sensed: Float, applied: Float) -> tuple[Float, PolicyState]:
        """Estimates (n, obs) after `applied` (n, act) led to what is `sensed` (n, obs), and the next state.

        The first call of an episode ignores `applied`. What is not among the sensors is ignored in `sensed`; a NaN
        there is a value that did not arrive.
        """
        ...


@dataclass(frozen=True)
class SensorModel:
    """What is sensed, and how well."""

    sensed: Int
    """Entries of the observation that are sensed (m,)."""
    noise: Float
    """Standard deviation of white noise in each (m,)."""
    bias: Float
    """Standard deviation of an offset of each that stays for an episode (m,); 0 where there is none."""
    delay: int = 0
    """Control steps by which observations are behind the actions."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together: they may come from a file."""
        shapes = {self.sensed.shape, self.noise.shape, self.bias.shape}
        numbers = np.concatenate((self.noise.ravel(), self.bias.ravel()))
        if len(shapes) != 1 or self.sensed.ndim != 1 or not (np.isfinite(numbers) & (numbers >= 0)).all():
            raise ValueError("a sensor model needs a noise and a bias, not negative, for every sensor")
        if not self.delay >= 0:
            raise ValueError(f"a delay cannot be {self.delay} steps")

    def is_exact(self, size: int, *, least: Float) -> bool:
        """Whether all of an observation is sensed, and nothing is off by more than `least` (m,)."""
        return len(self.sensed) == size and bool((self.noise <= least).all() and (self.bias <= least).all())

    def scaled(self, factor: float) -> "SensorModel":
        """The same sensors with all noise and bias multiplied."""
        return replace(self, noise=factor * self.noise, bias=factor * self.bias)


class ActionDelay:
    """The actions that the sensors show the effect of, in the state of a filter."""

    def __init__(self, delay: int, actions: int) -> None:
        """Sensors lag `delay` steps behind `actions` numbers."""
        self._delay, self._size = delay, actions

    def initial_state(self, n: int) -> PolicyState:
        """Before an episode nothing was done."""
        return {PENDING: np.zeros((n, self._delay, self._size))}

    def shifted(self, state: PolicyState, applied: Float) -> tuple[Float, PolicyState]:
        """The actions (n, act) that take effect now, and the state for the next step."""
        if not self._delay:
            return applied, {PENDING: state[PENDING]}
        line = np.concatenate((state[PENDING], applied[:, None]), axis=1)
        begun = np.asarray(state[BEGUN])[:, None, None]
        return line[:, 0], {PENDING: np.where(begun, line[:, 1:], state[PENDING])}


@dataclass(frozen=True)
class Shown:
    """No filter at all: the observation is what the sensors show, and what is not sensed is as at the usual start."""

    sensed: Int  # (m,)
    start: Float
    """Mean of the first observation (obs,)."""

    def initial_state(self, n: int) -> PolicyState:
        """There is nothing to remember but that there are n robots."""
        return {BEGUN: np.zeros(n, np.bool_)}

    def update(self, state: PolicyState, sensed: Float, applied: Float) -> tuple[Float, PolicyState]:
        """What is sensed, as it is. A value that did not arrive is as at the usual start."""
        del applied
        shown = np.broadcast_to(self.start, sensed.shape).copy()
        values = sensed[:, self.sensed]
        shown[:, self.sensed] = np.where(np.isfinite(values), values, shown[:, self.sensed])
        return shown, state
