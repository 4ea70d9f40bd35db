"""The source's own trajectory: where the expert would be by now in its simulator, from the same start."""

import numpy as np

from isthmus.core import AnyPolicy, Float, Simulator, rollout


class ReferenceRollout:
    """A simulation that runs beside the robots and tells how far they have drifted from it."""

    def __init__(self, policy: AnyPolicy, simulator: Simulator, history: int, scale: Float) -> None:
        """Follow `policy` in `simulator`, which holds as many worlds as there are robots."""
        self._policy, self._simulator, self._history = policy, simulator, history
        self._targets = simulator.spec.targets
        self._scale = scale[self._targets]

    def begin(self, observations: Float, steps: int) -> None:
        """Start where the robots are (n, obs), for so many steps."""
        start = self._simulator.place(observations)
        self._moments = rollout(self._simulator, self._policy, start, history=self._history, steps=steps, outlast=True)

    def drift(self, observations: Float) -> Float:
        """Move on by one step; how far `observations` (n, obs) are from there, in standard deviations (n,)."""
        away = (observations - next(self._moments).step.observations)[:, self._targets] / self._scale
        return np.sqrt(np.square(away).mean(axis=1))


def observation_scale(policy: AnyPolicy, simulator: Simulator, history: int, rng: np.random.Generator) -> Float:
    """How much each observation varies along the source's trajectory (obs,)."""
    start = simulator.reset(rng)
    steps = (moment.step for moment in rollout(simulator, policy, start, history=history))
    std = np.concatenate([start, *(step.observations[~step.ended] for step in steps)]).std(axis=0)
    return np.where(std > 0, std, 1.0)
