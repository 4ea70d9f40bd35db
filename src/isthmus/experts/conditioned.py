"""Simulations whose dynamics differ, and that tell a policy by what: the worlds a conditioned policy is trained in."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Float32, Mlp, Problem, Step, stream
from isthmus.experts.randomised import RandomisedWorlds
from isthmus.gaps import Ranges
from isthmus.policies import View
from isthmus.sim import Fields, MujocoWorld
from isthmus.sysid.quantities import Quantities
from isthmus.tasks import Task

DRAWN = 64
"""Robots that are drawn to see which quantities vary, and between what."""
VARIES = 1e-6


@dataclass(frozen=True)
class Told:
    """The quantities that vary in training, of all that a robot has."""

    quantities: Quantities
    columns: tuple[int, ...]
    low: Float
    high: Float
    mean: Float
    std: Float

    @staticmethod
    def of(task: Task, ranges: Ranges) -> "Told":
        """By drawing robots from the ranges."""
        model, quantities = task.robot_model.model, Quantities(task.robot_model)
        own, rng = ranges.on(model), stream(0, "conditioned", task.name)
        drawn = np.stack([quantities(own.draw(rng).apply(model)) for _ in range(DRAWN)])  # (DRAWN, q)
        columns = np.flatnonzero(np.ptp(drawn, axis=0) > VARIES)
        if not len(columns):
            raise Problem("nothing that identification finds differs between these robots: randomise masses, say")
        kept = drawn[:, columns]
        return Told(
            quantities, tuple(columns.tolist()), kept.min(axis=0), kept.max(axis=0), kept.mean(axis=0), kept.std(axis=0)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the quantities that vary."""
        return tuple(self.quantities.names[column] for column in self.columns)

    def of_model(self, model: mujoco.MjModel) -> Float:
        """Those of a model (q,)."""
        return self.quantities(model)[list(self.columns)]

    def view(self, view: View) -> View:
        """What the policy is shown: what `view` makes of the observation, and then the quantities."""
        told = len(self.columns)

        def see(observations: Float) -> Float:
            return np.hstack((view.see(observations[:, :-told]), observations[:, -told:]))

        return View(f"{view.name} and physics", view.size + told, see)

    def widened(self, network: Mlp) -> Mlp:
        """A network of the observation alone, which takes the quantities too and does not heed them yet."""
        first, told = network.weights[0], len(self.columns)
        unheeded: Float32 = np.zeros((told, first.shape[1]), np.float32)
        return replace(
            network,
            weights=(np.vstack((first, unheeded)), *network.weights[1:]),
            input_mean=np.concatenate((network.input_mean, self.mean)),
            input_scale=np.concatenate((network.input_scale, self.std)),
        )


class ConditionedWorlds:
    """n simulations with randomised dynamics; observations (n, obs + q) end with the quantities of each."""

    def __init__(self, worlds: RandomisedWorlds, told: Told) -> None:
        """Tell of `worlds`."""
        self._worlds, self._told = worlds, told
        self._models: list[mujoco.MjModel | None] = [None] * worlds.n
        self.z = np.zeros((worlds.n, len(told.columns)))

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for the reward."""
        return self._worlds.fields

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Draw dynamics and start a new episode in the worlds `which` (all by default)."""
        observations = self._worlds.reset(rng, which)
        self._tell()
        return np.hstack((observations, self.z))

    def step(self, commands: Float) -> Step:
        """Give commands (n, act) for one control period."""
        step = self._worlds.step(commands)
        return replace(step, observations=np.hstack((step.observations, self.z)))

    def drawn(self, rng: np.random.Generator) -> MujocoWorld:
        """The worlds with dynamics drawn once, which they keep; `z` is theirs."""
        world = self._worlds.drawn(rng)
        self._tell()
        return world

    def _tell(self) -> None:
        """Work out the quantities of worlds whose model is another than before."""
        for row, model in enumerate(self._worlds.models):
            if model is not self._models[row]:
                self.z[row], self._models[row] = self._told.of_model(model), model
