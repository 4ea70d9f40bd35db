"""The roles that the parts play. Simulator and robot are the same protocol, and neither knows of a reward."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isthmus.core.arrays import Bool, Float, Rows
from isthmus.core.history import History
from isthmus.core.spec import WorldSpec
from isthmus.core.step import Step

Correct = Callable[[Float, Float, Float], Float]
"""From observations (n, obs), applied actions (n, act) and what a simulator expects then (n, obs) to what is seen."""

PolicyState = Mapping[str, NDArray[Any]]
"""What a policy remembers of n episodes: named arrays (n, ...). It is empty for a policy without memory.

A policy that wraps another one holds the arrays of both, so their names differ. It gives the inner policy all of them.
"""


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
    """A policy without memory: it maps what was seen to what to do."""

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for n histories."""
        ...


class StatefulPolicy(Protocol):
    """A policy with memory, which whoever runs it holds: an observer's belief, a plan, a network's hidden state.

    `act` is a pure function. A row of the state belongs to one robot and depends on no other row, so that rows can be
    reset, selected and stored. Whoever runs the policy gives a robot that begins an episode the initial state.
    """

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        ...

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories, and the state for the next step."""
        ...


AnyPolicy = Policy | StatefulPolicy


class InverseModel(Protocol):
    """The paper's phi: which action leads from a history to a wanted observation."""

    @property
    def history(self) -> int:
        """How many observations it looks at: k."""
        ...

    def __call__(self, history: History, wanted: Float) -> Float:
        """Actions (n, act), or corrections of the source's action, that lead to `wanted` (n, obs)."""
        ...
