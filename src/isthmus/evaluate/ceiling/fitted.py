"""A simulator with a learned residual: the next state is what physics says, and a little more."""

import mujoco
import numpy as np

from isthmus.core import Bool, Float, History, Int, Step, WorldSpec
from isthmus.models.linear_residual import LinearResidual
from isthmus.worlds import Embodiment, Fields, MujocoWorld


class FittedWorld:
    """T(o, a) + r(o, a), as a world that can be run, scored and asked what comes next.

    What is not observed, such as how far a walker has come, goes on as the simulator has it.
    """

    def __init__(
        self, body: Embodiment, model: mujoco.MjModel, residual: LinearResidual, targets: Int, n: int = 1
    ) -> None:
        """Run n simulations of `model`, to whose observations in `targets` the residual is added."""
        self._body, self._residual, self._targets = body, residual, targets
        self._world = MujocoWorld(body, n, models=model)
        self._seen = np.zeros((n, body.spec.observation_size))
        self._ended = np.zeros(n, np.bool_)

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._world.spec

    @property
    def n(self) -> int:
        """How many simulations there are."""
        return self._world.n

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for scores."""
        return self._world.fields

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the worlds `which` (all by default); returns all observations (n, obs)."""
        self._seen = self._world.reset(rng, which)
        self._ended[slice(None) if which is None else which] = False
        return self._seen

    def place(self, observations: Float) -> Float:
        """Start a new episode at `observations` (n, obs)."""
        self._seen = self._world.place(observations)
        self._ended[:] = False
        return self._seen

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) for one control period, and move the state by the residual."""
        running = ~self._ended if which is None else which & ~self._ended
        step = self._world.step(commands, which)
        seen = np.where(running[:, None], self._corrected(step.observations, self._seen, step.applied), self._seen)
        for name, by in zip(("qpos", "qvel"), self._moved(step.observations, seen), strict=True):
            self.fields[name][running] += by[running]
        self._seen, self._ended = seen, step.ended
        return Step(seen, step.applied, step.ended)

    def predict(self, history: History, actions: Float) -> Float:
        """What is seen one step after `history` when `actions` (n, act) are given."""
        return self._corrected(self._world.predict(history, actions), history.current, actions)

    def _corrected(self, expected: Float, before: Float, actions: Float) -> Float:
        corrected = expected.copy()
        corrected[:, self._targets] += self._residual(np.hstack((before[:, self._targets], actions)))
        return corrected

    def _moved(self, one: Float, other: Float) -> tuple[Float, Float]:
        """How positions (n, nq) and velocities (n, nv) differ between two observations (n, obs)."""
        qpos, qvel = np.zeros((2, self.n, self._body.model.nq)), np.zeros((2, self.n, self._body.model.nv))
        for number, observations in enumerate((one, other)):
            self._body.restore(observations, qpos[number], qvel[number])
        return qpos[1] - qpos[0], qvel[1] - qvel[0]
