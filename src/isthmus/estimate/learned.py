"""A network that estimates observations from the last few values of the sensors and the last few actions.

It sees the latest values, how they changed from step to step, and the actions in between, in the robot's own `frame`.
It answers by how much the truth differs from the latest values; what is not sensed it answers as it is. Only NumPy is
needed to run it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus.core import Float, Mlp, PolicyState
from isthmus.estimate.filter import BEGUN, ActionDelay
from isthmus.estimate.frame import Frame

WINDOW = 8
"""Values of each sensor that are looked at."""
SHOWN, GIVEN = "estimator shown", "estimator given"
"""Names in the state: the latest values (n, WINDOW, m) and the actions between them (n, WINDOW - 1, act)."""


def features(shown: Float, given: Float) -> Float:
    """What the network sees (n, features) of values (n, WINDOW, m) and actions (n, WINDOW - 1, act), oldest first."""
    n = len(shown)
    return np.concatenate((shown[:, -1], np.diff(shown, axis=1).reshape(n, -1), given.reshape(n, -1)), axis=1)


@dataclass(frozen=True)
class LearnedFilter:
    """The filter; it is given all it needs and keeps nothing."""

    network: Mlp
    frame: Frame
    """What is sensed, and how the network looks at it."""
    start: Float
    """Mean of the first observation (obs,)."""
    actions: int
    """Numbers in an action."""
    delay: int = 0
    """Control steps by which observations are behind the actions."""

    def __post_init__(self) -> None:
        """Refuse a network of another robot or of other sensors: it may come from a file."""
        wanted = WINDOW * len(self.frame.looked_at) + (WINDOW - 1) * self.actions, len(self.start)
        found = self.network.input_size, self.network.output_size
        if found != wanted:
            raise ValueError(f"the network takes {found[0]} and gives {found[1]} numbers instead of {wanted}")

    @cached_property
    def _delay(self) -> ActionDelay:
        return ActionDelay(self.delay, self.actions)

    def initial_state(self, n: int) -> PolicyState:
        """Nothing was seen yet."""
        sensed = self.frame.sensed
        first = np.broadcast_to(self.start[sensed], (n, WINDOW, len(sensed)))
        return {
            BEGUN: np.zeros(n, np.bool_),
            SHOWN: first.copy(),
            GIVEN: np.zeros((n, WINDOW - 1, self.actions)),
            **self._delay.initial_state(n),
        }

    def update(self, state: PolicyState, sensed: Float, applied: Float) -> tuple[Float, PolicyState]:
        """Estimates (n, obs), and the next state. A value that did not arrive is as it was a step before."""
        begun = np.asarray(state[BEGUN])[:, None, None]
        acting, later = self._delay.shifted(state, applied)
        before, given = np.asarray(state[SHOWN]), np.asarray(state[GIVEN])
        latest = sensed[:, self.frame.sensed]
        latest = np.where(np.isfinite(latest), latest, before[:, -1])[:, None]
        shown = np.where(begun, np.concatenate((before[:, 1:], latest), axis=1), latest)
        given = np.where(begun, np.concatenate((given[:, 1:], acting[:, None]), axis=1), given)
        angle = self.frame.angle(latest[:, 0])
        looked = self.frame.shown(shown, angle)
        estimate = self.network(features(looked[..., self.frame.looked_at], given)).astype(np.float64)
        estimate[:, self.frame.sensed] += looked[:, -1]
        estimate = self.frame.turned(estimate, -angle)
        begins = np.ones(len(sensed), np.bool_)
        return estimate, {BEGUN: begins, SHOWN: shown, GIVEN: given, **later}
