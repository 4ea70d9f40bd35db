"""The roles. Simulator and robot are the same protocol, and neither knows of a reward."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np

from isthmus.core.arrays import Bool, Float, Rows
from isthmus.core.history import History
from isthmus.core.spec import WorldSpec
from isthmus.core.step import Step

Correct = Callable[[Float, Float, Float], Float]
"""From observations (n, obs), applied actions (n, act) and what a simulator expects then (n, obs) to what is seen."""


@runtime_checkable
class World(Protocol):
    """n robots, simulated or real, that can be reset and commanded."""

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        ...

    @property
    def n(self) -> int:
        """How many robots there are."""
        ...

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the worlds `which` (all by default); returns all observations (n, obs)."""
        ...

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) and wait one control period.

        Worlds that have ended, or are not among `which`, stay as they are.
        """
        ...


@runtime_checkable
class Placeable(World, Protocol):
    """A world that can be put where an observation says: simulation only."""

    def place(self, observations: Float) -> Float:
        """Start a new episode at `observations` (n, obs); returns what is seen there."""
        ...


@runtime_checkable
class Simulator(Placeable, Protocol):
    """A world that also predicts: the paper's T_src."""

    def predict(self, history: History, actions: Float) -> Float:
        """What is seen one step after `history` when `actions` (n, act) are given; leaves the world as it is."""
        ...


class Estimator(Protocol):
    """From what the sensors of n robots show to the observation that policy and simulator know.

    An estimator keeps its own state for each of the n robots: a filter, or a network with memory. Without one, what the
    sensors show is the observation.
    """

    def begin(self, sensed: Float, rows: Rows) -> Float:
        """Start a new episode in the m robots `rows`, whose sensors show `sensed` (m, sensors).

        Returns their observations (m, obs).
        """
        ...

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        """Observations (m, obs) of `rows`, one control period after `applied` (m, act) began to act."""
        ...


class Policy(Protocol):
    """Maps what was seen to what to do."""

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        ...


class InverseModel(Protocol):
    """The paper's phi: which action leads from a history to a wanted observation."""

    @property
    def history(self) -> int:
        """How many observations it looks at: k."""
        ...

    def __call__(self, history: History, wanted: Float) -> Float:
        """Actions (n, act), or corrections of the source's action, that lead to `wanted` (n, obs)."""
        ...
