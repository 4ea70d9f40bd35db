"""How the robot responds to a command, as a linear function.

    u = a + W' x(tau, a) + d

a is the command, u the action that explains its effect in the simulator, and x holds a one, the observation, the
command within the actuator's limits and, with history, those of the last steps. d is a disturbance that the
regression does not predict (`disturbance`). Solved for a, it gives the command whose effect is that of the source's
action.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.effective_action import EffectiveAction
from isthmus.adapt.common.method_state import MethodState
from isthmus.core import Float, Int, WorldSpec

KIND = "response-model"
ARRAYS = ("weights", "mean", "scale", "half_range")
DISTURBANCE = {"spread": "std", "lasting": "correlation", "blur": "measurement_std"}
"""What files call the fields of a disturbance."""
FAR = 5.0
"""Standardised observations are clipped to this: a linear model is not to be trusted further out."""
WEAKEST = 0.2
"""Directions in which the robot answers with less than this share of a command, or in reverse, are left as they are."""
LARGEST = 1.5
"""A command is changed by so many half ranges at most."""


@dataclass(frozen=True)
class Response:
    """The weights W, and what x is made of."""

    weights: Float
    """(features, act), for actions in half ranges."""
    mean: Float
    scale: Float
    """Of the observation's targets (d,)."""
    half_range: Float
    targets: Int
    disturbance: AR1Disturbance
    middle: Float = field(default_factory=lambda: np.zeros(1))
    """Of each actuator's range (act,); zero for all by default."""

    def __post_init__(self) -> None:
        """Refuse numbers that do not fit together: they may come from a file."""
        act, d = len(self.half_range), len(self.targets)
        vectors = (self.mean, self.scale, self.targets, self.half_range, self.disturbance.std)
        shapes = (*(vector.shape for vector in vectors), self.weights.shape[1:])
        numbers = (self.weights, self.middle, *vectors)
        fits = shapes == ((d,), (d,), (d,), (act,), (act,), (act,)) and self.middle.shape in ((1,), (act,))
        if not fits or not all(np.isfinite(array).all() for array in numbers):
            raise ValueError(f"its arrays have the shapes {shapes}, or are not finite")

    @staticmethod
    def plain(spec: WorldSpec, disturbance: AR1Disturbance) -> "Response":
        """Every command comes to what it is in the simulator, but for a disturbance."""
        act, d = spec.action_size, len(spec.targets)
        weights = np.zeros((1 + d + act, act))
        return Response(weights, np.zeros(d), np.ones(d), spec.half_range, spec.targets, disturbance, spec.middle)

    @property
    def lookback(self) -> int:
        """How many of the commands before are among the features."""
        return (len(self.weights) - 1 - len(self.targets)) // len(self.half_range) - 1

    def features(self, observations: Float, actions: Float, past: Float) -> Float:
        """The features of observations (n, obs), actions (n, act) and those before them (n, p), all within limits."""
        seen = (observations[:, self.targets] - self.mean) / self.scale
        one = np.ones((len(seen), 1))
        earlier = past.reshape(len(past), -1, len(self.half_range)) / self.half_range
        parts = (one, np.clip(seen, -FAR, FAR), actions / self.half_range, earlier.reshape(past.shape))
        return np.concatenate(parts, axis=1)

    def errors(self, observations: Float, actions: Float, past: Float) -> Float:
        """What the regression predicts of u - a, in half ranges (n, act)."""
        return self.features(observations, actions, past) @ self.weights

    def effect(self, commands: Float, belief: Float) -> Float:
        """About what commands (n, act), before any limit, come to under disturbances of which `belief` is known."""
        share, disturbed = self._share(commands), (belief * self.disturbance.grid).sum(axis=-1)
        effect = np.clip(share + disturbed if self.disturbance.saturates else np.clip(share, -1, 1) + disturbed, -1, 1)
        return self.middle + self.half_range * effect

    def within(self, commands: Float) -> Float:
        """Commands (n, act) within the actuators' limits."""
        return np.clip(commands, self.middle - self.half_range, self.middle + self.half_range)

    def unexplained(self, observations: Float, commands: Float, past: Float, found: EffectiveAction) -> ActionResiduals:
        """Errors of commands (n, act), before any limit, that the regression does not predict."""
        errors = ActionResiduals.of(
            commands, self.half_range, found, saturates=self.disturbance.saturates, middle=self.middle
        )
        return errors.less(self.errors(observations, self.within(commands), past))

    def correction(self, observations: Float, wanted: Float, past: Float, belief: Float) -> Float:
        """What to add to the actions `wanted` (n, act), within limits, for them to have their effect (n, act).

        `belief` is what is known of the disturbances (n, act, g).
        """
        error = self.errors(observations, wanted, past)
        share = self._share(wanted)
        against = self.disturbance.command(belief, share) - share
        return self.half_range * (against @ self.inverse_gain + np.clip(-error @ self.inverse_gain, -LARGEST, LARGEST))

    def _share(self, actions: Float) -> Float:
        """Actions (n, act) from the middle of their range, in half ranges: within limits between -1 and 1."""
        return (actions - self.middle) / self.half_range

    @cached_property
    def inverse_gain(self) -> Float:
        """From an error to the change of the command that makes up for it (act, act)."""
        begin = 1 + len(self.targets)
        gain = self.weights[begin : begin + len(self.half_range)]
        return _inverse(np.eye(len(gain)) + gain)

    def state(self) -> MethodState:
        """The model as plain data."""
        arrays = {name: getattr(self, name) for name in (*ARRAYS, "targets", "middle")}
        arrays |= {name: getattr(self.disturbance, field) for name, field in DISTURBANCE.items()}
        return MethodState(KIND, arrays, {"cut": self.disturbance.saturates})

    @staticmethod
    def of_state(state: MethodState) -> "Response":
        """The model that `state` gave."""
        arrays, meta = state.arrays, state.about
        try:
            numbers = {name: np.asarray(arrays[name], dtype=np.float64) for name in (*ARRAYS, *DISTURBANCE)}
            disturbance = AR1Disturbance(*(numbers.pop(name) for name in DISTURBANCE), saturates=bool(meta["cut"]))
            targets = np.asarray(arrays["targets"], dtype=np.int64)
            middle = np.asarray(arrays.get("middle", np.zeros(1)), dtype=np.float64)
            return Response(**numbers, targets=targets, disturbance=disturbance, middle=middle)
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise state.damaged(error) from error


def _inverse(matrix: Float) -> Float:
    """The inverse, but zero in directions that hardly answer, or in reverse."""
    left, values, right = np.linalg.svd(matrix)
    answers = values * np.einsum("ai,ia->i", left, right)
    undone = np.where(answers > WEAKEST, 1 / np.maximum(values, WEAKEST), 0.0)
    return np.asarray((right.T * undone) @ left.T, dtype=np.float64)
