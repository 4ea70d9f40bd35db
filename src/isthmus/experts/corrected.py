"""The source simulator, put right after every step by what was learned of its errors."""

import numpy as np

from isthmus.core import Bool, Float, Step, WorldSpec
from isthmus.policies.practice import Correct
from isthmus.tasks import Task
from isthmus.worlds import Fields


class CorrectedWorlds:
    """n source simulations that go on from where `correct` says that they should have come to."""

    def __init__(self, task: Task, n: int, correct: Correct) -> None:
        """Set up n worlds."""
        self._world, self._correct = task.source(n), correct
        self._seen = np.zeros((n, task.embodiment.spec.observation_size))
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
        """The live MuJoCo fields, for the reward."""
        return self._world.fields

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start a new episode in the worlds `which` (all by default)."""
        self._ended[slice(None) if which is None else which] = False
        self._seen = self._world.reset(rng, which)
        return self._seen

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act) for one control period; rewards and ends are those of the corrected state."""
        moving = ~self._ended if which is None else which & ~self._ended
        step = self._world.step(commands, moving)
        corrected = self._correct(self._seen, step.applied, step.observations)
        self._seen, self._ended = self._world.shift(corrected, moving)
        return Step(self._seen, step.applied, self._ended)
