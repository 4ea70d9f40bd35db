"""A policy that sees what its simulator shows of a state.

Inertias, velocities about the centre of mass and the like follow from positions and velocities, through the model of
who works them out. A policy knows the simulator's. On a robot with other masses it would meet what it has never seen
before anything has moved; asked in simulation, it sees the same state as it is used to.
"""

from collections.abc import Callable
from dataclasses import dataclass

from isthmus.core import AnyPolicy, Float, History, Int, PolicyState, PolicyWrapper, act


@dataclass(frozen=True, slots=True)
class SimDerivedPolicy(PolicyWrapper):
    """`policy`, with some of what is seen worked out in its simulator."""

    policy: AnyPolicy
    show: Callable[[Float], Float]
    """From observations (n, obs), those of the same states in the simulator."""
    derived: Int
    """The dimensions that are taken from there."""

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories, and the state for the next step."""
        observations = history.observations.copy()
        observations[:, -1] = self.see(history.current)
        return act(self.policy, History(observations, history.actions), state)

    def see(self, observations: Float) -> Float:
        """What it sees of observations (n, obs)."""
        seen = observations.copy()
        seen[:, self.derived] = self.show(observations)[:, self.derived]
        return seen
