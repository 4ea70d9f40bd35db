"""The source's own course: where the expert would be by now in its simulator, from the same start."""

import numpy as np

from isthmus.core import Float, HistoryBuffer, Policy, Simulator


class ReferenceRollout:
    """A simulation that runs beside the robots and tells how far they have drifted from it."""

    def __init__(self, policy: Policy, simulator: Simulator, history: int, scale: Float) -> None:
        """Follow `policy` in `simulator`, which holds as many worlds as there are robots."""
        spec = simulator.spec
        self._policy, self._simulator = policy, simulator
        self._buffer = HistoryBuffer(spec, simulator.n, history)
        self._targets, self._scale = spec.targets, scale[spec.targets]

    def begin(self, observations: Float) -> None:
        """Start where the robots are (n, obs)."""
        self._buffer.begin(self._simulator.place(observations))

    def drift(self, observations: Float) -> Float:
        """Move on by one step; how far `observations` (n, obs) are from there, in spreads of the course (n,)."""
        step = self._simulator.step(self._policy(self._buffer.window))
        self._buffer.append(step.applied, step.observations)
        away = (observations - step.observations)[:, self._targets] / self._scale
        return np.sqrt(np.square(away).mean(axis=1))


def observation_scale(policy: Policy, simulator: Simulator, history: int, rng: np.random.Generator) -> Float:
    """How much each observation varies along the source's course (obs,)."""
    spec = simulator.spec
    buffer = HistoryBuffer(spec, simulator.n, history)
    buffer.begin(simulator.reset(rng))
    seen = [buffer.window.current.copy()]
    for _ in range(spec.horizon):
        step = simulator.step(policy(buffer.window))
        buffer.append(step.applied, step.observations)
        seen.append(step.observations[~step.ended])
    std = np.concatenate(seen).std(axis=0)
    return np.where(std > 0, std, 1.0)
