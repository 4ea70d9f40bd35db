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

from isthmus.adapt.common import outliers as odd
from isthmus.adapt.common.action_residuals import CommandErrors
from isthmus.core import Bool, Float

REACH = 4.0
"""The grid goes so many spreads to either side."""
POINTS = 81
COMMANDS = 161
FURTHEST = 3.0
"""Commands go beyond the limit by so many spreads at most."""
TIE = 1e-6
"""Of commands with the same effect, the smallest is given."""


@dataclass(frozen=True)
class Disturbance:
    """What the disturbances at the actuators are like, each (act,)."""

    spread: Float
    lasting: Float
    """r: 0 for a new one at every step, 1 for one that stays."""
    blur: Float
    cut: bool
    """Whether it comes before the actuator's limit."""

    def __post_init__(self) -> None:
        """Refuse what cannot be: the numbers may come from a file."""
        shapes = {self.spread.shape, self.lasting.shape, self.blur.shape}
        fine = (self.spread >= 0).all() and (np.abs(self.lasting - 0.5) <= 0.5).all() and (self.blur >= 0).all()
        if len(shapes) != 1 or not (fine and np.isfinite(self.blur).all() and np.isfinite(self.spread).all()):
            raise ValueError("a disturbance needs a spread, a share that lasts and a blur for every actuator")

    @staticmethod
    def none(actuators: int) -> "Disturbance":
        """Nothing disturbs."""
        return Disturbance(np.zeros(actuators), np.zeros(actuators), np.zeros(actuators), cut=False)

    def only(self, actuators: Bool) -> "Disturbance":
        """The same, but at these actuators (act,) only."""
        return replace(self, spread=self.spread * actuators, lasting=self.lasting * actuators)

    def lasts(self, actuators: Bool) -> "Disturbance":
        """The same, but lasting at these actuators (act,) only."""
        return replace(self, lasting=self.lasting * actuators)

    @property
    def unforeseen(self) -> Float:
        """How far an error is off for who has long followed the disturbance (act,): a Kalman filter's steady state."""
        new, blur = (1 - np.square(self.lasting)) * np.square(self.spread), np.square(self.blur)
        less = blur * (1 - np.square(self.lasting)) - new
        before = (np.sqrt(np.square(less) + 4 * new * blur) - less) / 2
        return np.sqrt(before + blur)

    @cached_property
    def grid(self) -> Float:
        """Sizes (act, g) that a disturbance may have."""
        return self.spread[:, None] * np.linspace(-REACH, REACH, POINTS)

    @cached_property
    def prior(self) -> Float:
        """What is known at the start of an episode (g,)."""
        return _normalised(np.exp(-0.5 * np.square(np.linspace(-REACH, REACH, POINTS))))

    @cached_property
    def _moves(self) -> Float:
        """How likely each size turns into each (act, g, g)."""
        unit = np.linspace(-REACH, REACH, POINTS)
        lasting = self.lasting[:, None, None]
        width = np.maximum(np.sqrt(1 - np.square(lasting)), 1e-3)
        moves = _normalised(np.exp(-0.5 * np.square((unit - lasting * unit[:, None]) / width)) + 1e-300)
        return np.where(lasting == 1, np.eye(POINTS), moves)

    def start(self, n: int) -> Float:
        """Beliefs (n, act, g) at the start of n episodes."""
        return np.broadcast_to(self.prior, (n, len(self.spread), POINTS))

    def weighed(self, belief: Float, errors: CommandErrors) -> tuple[Float, Float]:
        """Beliefs after errors (n, act), and how likely those were (n, act)."""
        weighed = belief * self._likelihood(errors)
        evidence = weighed.sum(axis=-1)
        return weighed / evidence[..., None], evidence

    def moved(self, belief: Float) -> Float:
        """Beliefs a step later."""
        return _each_actuator(belief, self._moves)

    def command(self, belief: Float, wanted: Float) -> Float:
        """Commands (n, act) whose effect comes closest to what is wanted, within limits (n, act)."""
        if not self.cut:
            return wanted - (belief * self.grid).sum(axis=-1)
        commands, effect, squared = self._effects
        cost = _each_actuator(belief, squared) - 2 * wanted[..., None] * _each_actuator(belief, effect)
        best = np.argmin(cost, axis=-1)
        return np.where(self.spread > 0, commands[np.arange(len(commands)), best], wanted)

    @cached_property
    def _effects(self) -> tuple[Float, Float, Float]:
        """Commands (act, c), what each comes to under each disturbance, and its square (act, g, c)."""
        commands = (1 + FURTHEST * self.spread[:, None]) * np.linspace(-1, 1, COMMANDS)
        effect = np.clip(commands[:, None] + self.grid[..., None], -1, 1)
        return commands, effect, np.square(effect) + TIE * np.square(commands[:, None])

    def _likelihood(self, errors: CommandErrors) -> Float:
        step = self.spread * (2 * REACH / (POINTS - 1))
        shown = errors.shown[..., None]
        # A grid cannot tell more than this.
        blur = np.maximum(np.maximum(self.blur * errors.haze, 0.6 * step), 1e-6)[..., None]
        apart = shown * self.grid - errors.values[..., None]
        where_told, _ = odd.told(apart, blur)
        where_cut, _ = odd.beyond(-errors.side[..., None] * apart / blur)
        return np.where(errors.told[..., None], where_told, np.where(errors.side[..., None] != 0, where_cut, 1.0))


def _each_actuator(belief: Float, matrices: Float) -> Float:
    """Beliefs (n, act, g) times each actuator's matrix (act, g, m)."""
    return (belief.swapaxes(0, 1) @ matrices).swapaxes(0, 1)


def _normalised(shares: Float) -> Float:
    return shares / shares.sum(axis=-1, keepdims=True)
