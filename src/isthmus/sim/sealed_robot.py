"""A target nobody can look into."""

from collections.abc import Callable

import numpy as np

from isthmus.core import Bool, Float, Problem, Step, World, WorldSpec
from isthmus.core.protocols import Placeable

_Reset = Callable[[np.random.Generator, Bool | None], Float]
_Step = Callable[[Float, Bool | None], Step]
_Place = Callable[[Float], Float]


class SealedRobot:
    """The face of a target world that adaptation gets: it can be reset and commanded, and every step is counted.

    The world itself stays in a closure: its parameters, its simulator state and anything a score could be made of
    are not attributes of this object.
    """

    __slots__ = ("_ended", "_place", "_reset", "_spec", "_step", "samples")

    def __init__(self, world: World) -> None:
        """Hide `world`."""
        self._spec = world.spec
        self._ended = np.zeros(world.n, np.bool_)
        self._reset, self._step, self._place = _hidden(world)
        self.samples = 0
        """Steps taken so far, by all robots together."""

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._spec

    @property
    def n(self) -> int:
        """How many robots there are: one, unless the target is a simulation too."""
        return len(self._ended)

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the robots `which` (all by default); returns all observations (n, obs)."""
        self._ended[slice(None) if which is None else which] = False
        return self._reset(rng, which)

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) and wait one control period; every robot that moves makes a sample."""
        moving = ~self._ended if which is None else which & ~self._ended
        step = self._step(commands, which)
        self.samples += int(np.count_nonzero(moving))
        self._ended = step.ended.copy()
        return step

    def place(self, observations: Float) -> Float:
        """Be put where observations (n, obs) say: possible in simulation only."""
        if self._place is None:
            raise Problem("this robot cannot be put into a state: collect trajectories only, with placed=0")
        self._ended[:] = False
        return self._place(observations)


def _hidden(world: World) -> tuple[_Reset, _Step, _Place | None]:
    """What can be done with `world`, as functions that do not give it away (a bound method would: `__self__`)."""

    def reset(rng: np.random.Generator, which: Bool | None) -> Float:
        return world.reset(rng, which)

    def step(commands: Float, which: Bool | None) -> Step:
        return world.step(commands, which)

    if not isinstance(world, Placeable):
        return reset, step, None
    placeable = world

    def place(observations: Float) -> Float:
        return placeable.place(observations)

    return reset, step, place
