"""A target that writes down what it pays: only for methods that are marked as seeing the reward."""

from collections.abc import Callable

import numpy as np

from isthmus.core import Bool, Episode, Float, Step, World, WorldSpec
from isthmus.core.trajectory import rewarded


class RewardRecorder:
    """A world of n robots, each of whose steps is paid."""

    def __init__(
        self, world: World, measure: Callable[[], Float], reward: Callable[[Float, Float, Float], Float]
    ) -> None:
        """Pay for what `measure` finds before a step, the applied actions (n, act), and what it finds after."""
        self.spec: WorldSpec = world.spec
        self.n: int = world.n
        self._world, self._measure, self._reward = world, measure, reward
        self._rewards: list[Float] = []
        self._ended = np.zeros(self.n, np.bool_)

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start new episodes, and a new page."""
        self._rewards.clear()
        return self._world.reset(rng, which)

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act), and write down what they were worth."""
        before = self._measure().copy()
        step = self._world.step(commands, which)
        self._rewards.append(self._reward(before, step.applied, self._measure()))
        self._ended = step.ended.copy()
        return step

    def rewarded(self, wave: list[Episode]) -> list[Episode]:
        """The episodes of the last wave, one a robot, with what they were paid."""
        earned = np.stack(self._rewards)  # (steps, n)
        return [
            [rewarded(one, earned[: len(one), robot], bool(self._ended[robot])) for one in episode]
            for robot, episode in enumerate(wave)
        ]
