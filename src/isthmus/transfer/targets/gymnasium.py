"""Somebody's own environment as the target; apart, since it needs Gymnasium and a control step does not."""

import numpy as np

from isthmus.core import AnyPolicy, Float
from isthmus.evaluate import Trace, evaluate, record
from isthmus.evaluate.environment import attempted, evaluate_environment
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.oversight import Abandon
from isthmus.policies import TracedPolicy
from isthmus.sim import SealedRobot
from isthmus.sim.gymnasium_world import GymnasiumWorld, open_environment
from isthmus.tasks import Task
from isthmus.transfer.records import Scored
from isthmus.transfer.target_steps import Taken
from isthmus.transfer.targets.target import RewardRecorder, Settled

SOURCE_EPISODES = 100
"""Episodes at least behind scores in the source simulator, which cost the robot nothing."""


class EnvironmentTarget:
    """A Gymnasium environment, which may be a real robot: there is one, scored by the reward it pays itself."""

    most_robots = 1

    def __init__(
        self,
        task: Task,
        environment: str,
        episodes: int,
        safety: SafetySettings | None = None,
        stop: Stop | None = None,
        abandon: Abandon | None = None,
    ) -> None:
        """Score over so many episodes. Whoever makes this closes it."""
        self._task, self._episodes = task, episodes
        self._world: GymnasiumWorld = open_environment(
            environment,
            task.robot_model.spec,
            speeds=task.speed_limits,
            safety=safety,
            stop=stop,
            abandon=abandon,
            estimator=task.made_estimator(),
        )

    @property
    def taken(self) -> Taken:
        """Steps and resets so far."""
        return Taken(self._world.steps, self._world.resets)

    def robot(self, n: int) -> SealedRobot:
        """The one there is."""
        if n != 1:
            raise ValueError(f"there is one robot, not {n}")
        return SealedRobot(self._world)

    def reward_recorder(self, n: int) -> RewardRecorder:
        """The one there is, on the reward that it pays itself."""
        if n != 1:
            raise ValueError(f"there is one robot, not {n}")
        world = self._world
        return RewardRecorder(
            world, lambda: np.empty((1, 0)), lambda _before, _applied, _after: np.array([world.reward])
        )

    def score_source(self, policy: AnyPolicy, rng: np.random.Generator) -> Scored:
        """The task's own reward in the source simulator, which the environment's should be."""
        episodes = max(self._episodes, SOURCE_EPISODES)
        found = evaluate(self._task, self._task.source(episodes), policy, 1, rng)
        return Scored.of(found.returns, found.effort)

    def score(
        self,
        policy: AnyPolicy,
        history: int,
        rng: np.random.Generator,
        settled: Settled | None = None,  # noqa: ARG002 - its episodes are few
    ) -> Scored:
        """The environment's reward, one episode after another."""
        found = evaluate_environment(self._world, policy, history, self._episodes, rng)
        return Scored.of(found.returns, found.effort)

    def record(self, policy: TracedPolicy, history: int, rng: np.random.Generator) -> Trace:
        """One episode."""
        body, model = self._task.robot_model, self._task.robot_model.model
        qpos, qvel = np.zeros((1, model.nq)), np.zeros((1, model.nv))

        def positions() -> Float:
            body.restore(self._world.sensed, qpos, qvel)
            return qpos

        return attempted(lambda rng: record(self._world, policy, history, rng, positions), rng)

    def close(self) -> str:
        """Hold and close the environment, once; says what went wrong with that, if anything did."""
        return self._world.close()
