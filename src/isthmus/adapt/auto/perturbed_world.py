"""A simulator with the disturbances, delay and sensor noise that were estimated on the target."""

from collections.abc import Callable

import numpy as np

from isthmus.adapt.common.response import LARGEST
from isthmus.adapt.method import Perturbation
from isthmus.core import Bool, Estimator, Float, Rows, Step, WorldSpec
from isthmus.sim import CorrectedWorld, Delay, Fields, MujocoWorld, Noise


class PerturbedWorld:
    """A world whose commands come to something else on their way, and perhaps late, and whose sensors are noisy."""

    def __init__(
        self,
        world: MujocoWorld | CorrectedWorld,
        perturbation: Perturbation,
        rng: np.random.Generator,
        delay: int = 0,
        see: Callable[[Float], Float] | None = None,
        estimator: Estimator | None = None,
    ) -> None:
        """Take over `world`; `rng` draws disturbances and noise.

        An `estimator` stands between the sensors and the observations, and `see` changes observations (n, obs).
        """
        self.spec: WorldSpec = world.spec
        self.n: int = world.n
        self.fields: Fields = world.fields
        self._world, self._response, self._noise, self._rng = world, perturbation.response, perturbation.noise, rng
        self._see, self._estimator = see, estimator
        disturbance, act = perturbation.response.disturbance, self.spec.action_size
        self._delay = Delay(self.n, act, delay)
        self._disturbance = Noise(self.n, self.spec.half_range * disturbance.std, disturbance.correlation)
        self._state = np.zeros((self.n, self.spec.observation_size))
        self._seen = self._state.copy()
        self._past = np.zeros((self.n, perturbation.response.lookback, act))

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start new episodes, with new disturbances."""
        rows = slice(None) if which is None else which
        self._begin(rows)
        self._state = self._world.reset(rng, which).copy()
        return self._sensed(self._state, rows)

    def place(self, observations: Float) -> Float:
        """Start new episodes at `observations` (n, obs), with new disturbances."""
        self._begin(slice(None))
        self._state = self._world.place(observations).copy()
        return self._sensed(self._state, slice(None))

    def _begin(self, rows: Rows) -> None:
        rest = np.zeros((self.n, self.spec.action_size))[rows]
        self._delay.begin(rest, self.fields, self._rng, rows)
        self._disturbance.begin(rest, self.fields, self._rng, rows)
        self._past[rows] = 0.0

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act); what arrives of them is disturbed."""
        accepted = self.spec.clip(commands)
        arrived = self._delay(commands if self._response.disturbance.saturates else accepted, self.fields, slice(None))
        step = self._world.step(self._disturbance(self._response_to(arrived), self.fields, slice(None)), which)
        self._state = step.observations.copy()
        seen = self._sensed(step.observations, slice(None) if which is None else which, accepted)
        return Step(seen, accepted, step.ended)

    def _response_to(self, arrived: Float) -> Float:
        """The effect of commands (n, act) by the regression."""
        taken = self.spec.clip(arrived)
        errors = self._response.errors(self._state, taken, self._past.reshape(self.n, -1))
        self._past = np.concatenate((self._past, taken[:, None]), axis=1)[:, 1:]
        return arrived + self.spec.half_range * np.clip(errors, -LARGEST, LARGEST)

    def _sensed(self, observations: Float, rows: Rows, applied: Float | None = None) -> Float:
        """What the policy is shown (n, obs); it is new in `rows`, after `applied` (n, act) if an episode goes on."""
        if self._noise.any():
            observations = observations + self._noise * self._rng.standard_normal(observations.shape)
        if self._estimator is not None:
            sensed = observations[rows]
            begins = applied is None
            self._seen[rows] = (
                self._estimator.begin(sensed, rows) if begins else self._estimator(sensed, applied[rows], rows)
            )
            observations = self._seen.copy()
        return self._see(observations) if self._see else observations
