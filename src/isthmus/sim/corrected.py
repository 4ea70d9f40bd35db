"""A simulator that is put right after every step by what was learned of its errors."""

import numpy as np

from isthmus.core import Bool, Correct, Float, History, Step, WorldSpec
from isthmus.sim.mujoco_world import MujocoWorld
from isthmus.sim.robot_model import Fields


class CorrectedWorld:
    """Simulations that go on from where `correct` says that they should have come to.

    What is not observed, such as how far a walker has come, goes on as the simulator has it.
    """

    def __init__(self, world: MujocoWorld, correct: Correct) -> None:
        """Take over `world`."""
        self.spec: WorldSpec = world.spec
        self.n: int = world.n
        self.fields: Fields = world.fields
        self._world, self._correct = world, correct
        self._seen = np.zeros((self.n, self.spec.observation_size))
        self._ended = np.zeros(self.n, np.bool_)

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the worlds `which` (all by default)."""
        self._ended[slice(None) if which is None else which] = False
        self._seen = self._world.reset(rng, which)
        return self._seen

    def place(self, observations: Float) -> Float:
        """Start a new episode at `observations` (n, obs)."""
        self._ended[:] = False
        self._seen = self._world.place(observations)
        return self._seen

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) for one control period; scores and ends are those of the corrected state."""
        moving = ~self._ended if which is None else which & ~self._ended
        step = self._world.step(commands, moving)
        corrected = self._correct(self._seen, step.applied, step.observations)
        self._seen, self._ended = self._world.shift(corrected, moving)
        return Step(self._seen, step.applied, self._ended)

    @property
    def serial(self) -> "CorrectedWorld":
        """The same on one thread."""
        return CorrectedWorld(self._world.serial, self._correct)

    @property
    def coarse(self) -> "CorrectedWorld | None":
        """The same about a simulator that is quicker and less exact, where there is one."""
        return CorrectedWorld(self._world.coarse, self._correct) if self._world.coarse else None

    def predict(self, history: History, actions: Float) -> Float:
        """What is seen one step after `history` when `actions` (n, act) are given."""
        return self._correct(history.current, actions, self._world.predict(history, actions))
