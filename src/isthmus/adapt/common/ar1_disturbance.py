"""A disturbance at each actuator that comes and goes: what it is like, and what it probably is now.

    d' = r d + sqrt(1 - r^2) s z          z normal: how it moves
    e  = h d + b z'                       z' normal: what an error of a command tells of it

h is the share of an error that shows. What is known of d is a histogram over a grid. Every step moves it by the first
line and weighs it by the second, by Bayes' rule; an error that was cut off at the actuator's limit tells only that d
lies beyond, and counts for that. From the histogram follows the command whose effect is closest to the wanted one,

    argmin_c E (clip(c + d) - wanted)^2

which goes beyond what is wanted where d is uncertain: the nearer to the limit, the less of it gets through.
All in half ranges of the actuators.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from isthmus.adapt.common import outliers
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_filter import AR1Filter
from isthmus.core import Bool, Float

REACH = 4.0
"""The grid reaches this many standard deviations either way."""
POINTS = 81
COMMANDS = 161
FURTHEST = 3.0
"""Commands go beyond the limit by so many standard deviations at most."""
TIE = 1e-6
"""Of commands with the same effect, the smallest is given."""


@dataclass(frozen=True)
class AR1Disturbance:
    """What the disturbances at the actuators are like, each (act,)."""

    std: Float
    correlation: Float
    """r: 0 for a new one at every step, 1 for one that stays."""
    measurement_std: Float
    saturates: bool
    """Whether it comes before the actuator's limit."""

    def __post_init__(self) -> None:
        """Refuse what cannot be: the numbers may come from a file."""
        shapes = {self.std.shape, self.correlation.shape, self.measurement_std.shape}
        fine = (
            (self.std >= 0).all()
            and (np.abs(self.correlation - 0.5) <= 0.5).all()
            and (self.measurement_std >= 0).all()
        )
        if len(shapes) != 1 or not (fine and np.isfinite(self.measurement_std).all() and np.isfinite(self.std).all()):
            raise ValueError("a disturbance needs a std, a correlation and a measurement std for every actuator")

    @staticmethod
    def none(actuators: int) -> "AR1Disturbance":
        """Nothing disturbs."""
        return AR1Disturbance(np.zeros(actuators), np.zeros(actuators), np.zeros(actuators), saturates=False)

    def only(self, actuators: Bool) -> "AR1Disturbance":
        """The same, but at these actuators (act,) only."""
        return replace(self, std=self.std * actuators, correlation=self.correlation * actuators)

    def correlated_at(self, actuators: Bool) -> "AR1Disturbance":
        """The same, but correlated in time at these actuators (act,) only."""
        return replace(self, correlation=self.correlation * actuators)

    @property
    def prediction_std(self) -> Float:
        """The standard deviation of an error about its prediction, after many steps (act,)."""
        return AR1Filter(self.std, self.correlation, self.measurement_std).prediction_std

    def filter(self, actuator: int) -> AR1Filter:
        """The Kalman filter of the disturbance at one actuator."""
        parts = self.std, self.correlation, self.measurement_std
        return AR1Filter(*(float(part[actuator]) for part in parts))

    @cached_property
    def grid(self) -> Float:
        """Sizes (act, g) that a disturbance may have."""
        return self.std[:, None] * np.linspace(-REACH, REACH, POINTS)

    @cached_property
    def prior(self) -> Float:
        """What is known at the start of an episode (g,)."""
        return _normalised(np.exp(-0.5 * np.square(np.linspace(-REACH, REACH, POINTS))))

    @cached_property
    def _transition(self) -> Float:
        """How likely each size turns into each (act, g, g)."""
        unit = np.linspace(-REACH, REACH, POINTS)
        correlation = self.correlation[:, None, None]
        width = np.maximum(np.sqrt(1 - np.square(correlation)), 1e-3)
        transition = _normalised(np.exp(-0.5 * np.square((unit - correlation * unit[:, None]) / width)) + 1e-300)
        return np.where(correlation == 1, np.eye(POINTS), transition)

    def start(self, n: int) -> Float:
        """Beliefs (n, act, g) at the start of n episodes."""
        return np.broadcast_to(self.prior, (n, len(self.std), POINTS))

    def updated(self, belief: Float, errors: ActionResiduals) -> tuple[Float, Float]:
        """Beliefs after errors (n, act), and how likely those were (n, act)."""
        joint = belief * self._likelihood(errors)
        evidence = joint.sum(axis=-1)
        return joint / evidence[..., None], evidence

    def propagated(self, belief: Float) -> Float:
        """Beliefs a step later."""
        return _each_actuator(belief, self._transition)

    def command(self, belief: Float, wanted: Float) -> Float:
        """Commands (n, act) whose effect comes closest to what is wanted, within limits (n, act)."""
        if not self.saturates:
            return wanted - (belief * self.grid).sum(axis=-1)
        commands, effect, squared = self.effects
        cost = _each_actuator(belief, squared) - 2 * wanted[..., None] * _each_actuator(belief, effect)
        best = np.argmin(cost, axis=-1)
        return np.where(self.std > 0, commands[np.arange(len(commands)), best], wanted)

    @cached_property
    def effects(self) -> tuple[Float, Float, Float]:
        """Commands (act, c), what each comes to under each disturbance, and its square (act, g, c)."""
        commands = (1 + FURTHEST * self.std[:, None]) * np.linspace(-1, 1, COMMANDS)
        effect = np.clip(commands[:, None] + self.grid[..., None], -1, 1)
        return commands, effect, np.square(effect) + TIE * np.square(commands[:, None])

    def _likelihood(self, errors: ActionResiduals) -> Float:
        step = self.std * (2 * REACH / (POINTS - 1))
        gain = errors.gain[..., None]
        # A grid cannot tell more than this.
        scale = np.maximum(np.maximum(self.measurement_std * errors.noise_scale, 0.6 * step), 1e-6)[..., None]
        residual = gain * self.grid - errors.values[..., None]
        if_observed, _ = outliers.observed(residual, scale)
        if_censored, _ = outliers.censored(-errors.censoring[..., None] * residual / scale)
        return np.where(
            errors.observed[..., None], if_observed, np.where(errors.censoring[..., None] != 0, if_censored, 1.0)
        )


def _each_actuator(belief: Float, matrices: Float) -> Float:
    """Beliefs (n, act, g) times each actuator's matrix (act, g, m)."""
    return (belief.swapaxes(0, 1) @ matrices).swapaxes(0, 1)


def _normalised(shares: Float) -> Float:
    return shares / shares.sum(axis=-1, keepdims=True)
