"""The target: what a run needs of it, and a simulated robot behind a gap."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from isthmus.core import AnyPolicy, Bool, Episode, Float, Step, World, WorldSpec
from isthmus.core.statistics import standard_error
from isthmus.core.trajectory import rewarded
from isthmus.evaluate import Trace, evaluate, record
from isthmus.evaluate.effort import Effort
from isthmus.evaluate.evaluation import Evaluation, Scorable
from isthmus.gaps import Gap
from isthmus.policies import TracedPolicy
from isthmus.sim import SealedRobot
from isthmus.tasks import Task
from isthmus.transfer.records import Scored
from isthmus.transfer.target_steps import Taken


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


TRACED_EPISODES = 8
FIRST_EPISODES = 16
CLEARLY = 3.0
"""Standard errors that a mean score is above or below another, when fewer episodes do."""
Settled = Callable[[Float], bool]
"""Whether the scores of some episodes (n,) already tell what was asked."""
MakeWorld = Callable[[Task, int], Scorable]
"""From a task and a number to so many simulated robots."""


def clear_of(wanted: float) -> Settled:
    """Whether scores (n,) are clearly above `wanted` on average, or clearly below."""

    def settled(scores: Float) -> bool:
        return bool(abs(scores.mean() - wanted) > CLEARLY * standard_error(scores))

    return settled


class Target(Protocol):
    """What a run needs of it. Only `robot` is for adaptation; the rest is for judging it, or for being paid."""

    @property
    def most_robots(self) -> int:
        """How many can run side by side."""
        ...

    @property
    def taken(self) -> Taken | None:
        """What it was asked to do so far; None for a simulation, which costs nothing."""
        ...

    def robot(self, n: int) -> SealedRobot:
        """The robots as adaptation gets them."""
        ...

    def reward_recorder(self, n: int) -> RewardRecorder:
        """The robots as a method gets them that is marked as seeing the reward."""
        ...

    def score_source(self, policy: AnyPolicy, rng: np.random.Generator) -> Scored:
        """How well a policy does in the source simulator, on the scale of `score`."""
        ...

    def score(
        self, policy: AnyPolicy, history: int, rng: np.random.Generator, settled: Settled | None = None
    ) -> Scored:
        """How well a policy does on the target, over fewer episodes where the scores of those settle the question."""
        ...

    def record(self, policy: TracedPolicy, history: int, rng: np.random.Generator) -> Trace:
        """A few episodes in full."""
        ...


class SimulatedTarget:
    """The task's own robot, behind a gap or simulated in another way."""

    most_robots = 16
    taken = None

    def __init__(self, task: Task, gap: Gap, episodes: int, make: MakeWorld | None = None) -> None:
        """Score over so many episodes; `make` makes the robots where a gap does not."""
        self._task, self._trial, self._episodes = task, task.trial, episodes
        self._make: MakeWorld = make or (lambda one, n: one.target(gap, n))
        self._worlds: dict[int, Scorable] = {}

    def robot(self, n: int) -> SealedRobot:
        """Robots that differ from the source by the gap."""
        return SealedRobot(self._make(self._task, n))

    def reward_recorder(self, n: int) -> RewardRecorder:
        """The same robots, on Gym's own reward."""
        task, world = self._task, self._make(self._task, n)
        return RewardRecorder(world, lambda: task.measure(world.fields), task.step_reward)

    def score_source(self, policy: AnyPolicy, rng: np.random.Generator) -> Scored:
        """The task's score in the source simulator."""
        found = evaluate(self._trial, self._trial.source(self._episodes), policy, 1, rng)
        return Scored.of(found.scores, found.effort)

    def score(
        self, policy: AnyPolicy, history: int, rng: np.random.Generator, settled: Settled | None = None
    ) -> Scored:
        """The task's score, all episodes at once; where something may be settled before, some first."""
        first = self._episodes if settled is None else min(FIRST_EPISODES, self._episodes)
        found = [self._evaluated(first, policy, history, rng)]
        if first < self._episodes and not (settled and settled(found[0].scores)):
            found.append(self._evaluated(self._episodes - first, policy, history, rng))
        return Scored.of(np.concatenate([one.scores for one in found]), Effort.joined([one.effort for one in found]))

    def _evaluated(self, n: int, policy: AnyPolicy, history: int, rng: np.random.Generator) -> Evaluation:
        world = self._worlds[n] = self._worlds.get(n) or self._make(self._trial, n)
        return evaluate(self._trial, world, policy, history, rng)

    def record(self, policy: TracedPolicy, history: int, rng: np.random.Generator) -> Trace:
        """A few episodes side by side."""
        world = self._make(self._trial, TRACED_EPISODES)
        return record(world, policy, history, rng, lambda: world.fields["qpos"])
