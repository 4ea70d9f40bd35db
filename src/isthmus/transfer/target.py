"""The other side: a simulated robot behind a gap, or somebody's own environment."""

from typing import Protocol

import numpy as np

from isthmus.core import Float, Policy
from isthmus.evaluate import Trace, evaluate, evaluate_environment, record
from isthmus.gaps import Gap
from isthmus.policies import Decider
from isthmus.tasks import Task
from isthmus.transfer.records import Scored
from isthmus.worlds import MujocoWorld, Robot
from isthmus.worlds.gymnasium_world import GymnasiumWorld, load_environment

TRACED_EPISODES = 8


class Target(Protocol):
    """What a crossing needs of it. Only `robot` is for adaptation; the rest is for judging it."""

    @property
    def most_robots(self) -> int:
        """How many can run side by side."""
        ...

    def robot(self, n: int) -> Robot:
        """The robots as adaptation gets them."""
        ...

    def score_source(self, policy: Policy, rng: np.random.Generator) -> Scored:
        """How well a policy does in the source simulator, on the scale of `score`."""
        ...

    def score(self, policy: Policy, history: int, rng: np.random.Generator) -> Scored:
        """How well a policy does on the target."""
        ...

    def record(self, decider: Decider, history: int, rng: np.random.Generator) -> Trace:
        """A few episodes in full."""
        ...


class SimulatedTarget:
    """The task's own robot on the other side of a gap."""

    most_robots = 16

    def __init__(self, task: Task, gap: Gap, episodes: int) -> None:
        """Score over so many episodes."""
        self._task, self._gap, self._episodes = task, gap, episodes
        self._scored: MujocoWorld | None = None

    def robot(self, n: int) -> Robot:
        """Robots that differ from the source by the gap."""
        return self._task.robot(self._gap, n)

    def score_source(self, policy: Policy, rng: np.random.Generator) -> Scored:
        """The task's score in the source simulator."""
        return Scored.of(evaluate(self._task, self._task.source(self._episodes), policy, 1, rng).scores)

    def score(self, policy: Policy, history: int, rng: np.random.Generator) -> Scored:
        """The task's score, all episodes at once."""
        self._scored = self._scored or self._task.target(self._gap, self._episodes)
        return Scored.of(evaluate(self._task, self._scored, policy, history, rng).scores)

    def record(self, decider: Decider, history: int, rng: np.random.Generator) -> Trace:
        """A few episodes side by side."""
        world = self._task.target(self._gap, TRACED_EPISODES)
        return record(world, decider, history, rng, lambda: world.fields["qpos"])


class EnvironmentTarget:
    """A Gymnasium environment: a single robot, scored by the reward it pays itself."""

    most_robots = 1

    def __init__(self, task: Task, environment: str, episodes: int) -> None:
        """Score over so many episodes."""
        self._task, self._episodes = task, episodes
        self._world: GymnasiumWorld = load_environment(environment, task.embodiment.spec)

    def robot(self, n: int) -> Robot:
        """The one there is."""
        if n != 1:
            raise ValueError(f"there is one robot, not {n}")
        return Robot(self._world)

    def score_source(self, policy: Policy, rng: np.random.Generator) -> Scored:
        """The task's own reward in the source simulator, which the environment's should be."""
        return Scored.of(evaluate(self._task, self._task.source(self._episodes), policy, 1, rng).returns)

    def score(self, policy: Policy, history: int, rng: np.random.Generator) -> Scored:
        """The environment's reward, one episode after another."""
        return Scored.of(evaluate_environment(self._world, policy, history, self._episodes, rng).returns)

    def record(self, decider: Decider, history: int, rng: np.random.Generator) -> Trace:
        """One episode."""
        body, model = self._task.embodiment, self._task.embodiment.model
        qpos, qvel = np.zeros((1, model.nq)), np.zeros((1, model.nv))

        def positions() -> Float:
            body.restore(self._world.observations, qpos, qvel)
            return qpos

        return record(self._world, decider, history, rng, positions)
