"""A robot at an address as the target; apart, since nothing else in a run needs drivers."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from isthmus.core import AnyPolicy, Float, Lost, Problem, rollout
from isthmus.evaluate import Trace, evaluate, record
from isthmus.evaluate.effort import EffortMeter
from isthmus.hardware import SafetySettings, Stop
from isthmus.hardware.address import RobotAddress, open_driver
from isthmus.hardware.link import Link
from isthmus.hardware.world import RobotWorld
from isthmus.policies import TracedPolicy
from isthmus.sim import Fields, SealedRobot
from isthmus.sim.robot_model import never_ends
from isthmus.tasks import Task
from isthmus.transfer.events import Glimpse, Look
from isthmus.transfer.records import Scored
from isthmus.transfer.target_steps import Taken
from isthmus.transfer.targets.target import RewardRecorder, Settled

ATTEMPTS = 3
"""How often a trial is begun anew when the robot is lost in the middle of it."""
LATE = 0.002
"""Seconds after which a deadline counts as missed."""


def nobody_looks(_glimpse: Glimpse) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Attended:
    """Who is with a robot while it moves."""

    look: Look = nobody_looks
    """Is shown every step."""
    stop: Stop = field(default_factory=Stop)
    """Ask for it, from any thread or signal handler, and the arm holds where it is."""
    tell: Callable[[str], None] = lambda _what: None
    """Hears what a person should know before the arm moves."""


class RobotTarget:
    """One robot, commanded by a driver, and judged by where it says it is."""

    most_robots = 1

    def __init__(
        self, task: Task, address: RobotAddress, episodes: int, safety: SafetySettings, attended: Attended | None = None
    ) -> None:
        """Score over so many episodes."""
        spec, wiring = task.robot_model.spec, task.wired()
        self._task, self._trial, self._episodes = task, task.trial, episodes
        self._attended = attended or Attended()
        self._starts: deque[Float] = deque()
        self._missed, self._resets = 0, 0
        self._placed = task.source() if task.robot_model.reads else None
        driver = open_driver(address, wiring.joints, wiring.commands)
        self._link = Link(driver, self._attended.stop, wiring.check())
        if self._link.meet(safety.patience):
            self._attended.tell(_clocks(self._link))
        self._world = RobotWorld(
            self._link,
            spec,
            wiring,
            safety,
            begin=self._next_start,
            go_on=task.go_on,
            over=None if task.robot_model.ended is never_ends else self._over,
            watch=self._show,
            estimator=task.made_estimator(),
        )

    @property
    def taken(self) -> Taken:
        """Steps and moves to a start so far."""
        return Taken(self._world.pace.steps, self._resets)

    def robot(self, n: int) -> SealedRobot:
        """The one there is."""
        if n != 1:
            raise ValueError(f"there is one robot, not {n}")
        return SealedRobot(self._world)

    def reward_recorder(self, n: int) -> RewardRecorder:  # noqa: ARG002
        """Nobody pays a robot."""
        raise Problem("a robot pays no reward: choose a method that does not see it")

    def score_source(self, policy: AnyPolicy, rng: np.random.Generator) -> Scored:
        """The task's score in the source simulator."""
        found = evaluate(self._trial, self._trial.source(self._episodes), policy, 1, rng)
        return Scored.of(found.scores, found.effort)

    def score(
        self,
        policy: AnyPolicy,
        history: int,
        rng: np.random.Generator,
        settled: Settled | None = None,  # noqa: ARG002 - its trials are few
    ) -> Scored:
        """The task's score, one trial after another."""
        meter = EffortMeter(self._world.spec, 1)
        scores = [self.try_out(policy, history, start, meter).sum() for start in self.trials(rng)]
        return Scored.of(np.array(scores), meter.effort)

    def trials(self, rng: np.random.Generator) -> Float:
        """Where the judged episodes begin (episodes, obs)."""
        return self._observed(*self._trial.robot_model.start(rng, self._episodes))

    def try_out(self, policy: AnyPolicy, history: int, start: Float, meter: EffortMeter | None = None) -> Float:
        """The score of every step of one trial from `start` (obs,); a `meter` hears what the actuators were asked."""
        for attempt in range(ATTEMPTS):
            try:
                return self._tried(policy, history, start, meter=meter)
            except Lost:
                if attempt == ATTEMPTS - 1 or self._link.stop.asked:
                    raise
        raise AssertionError

    def move_to(self, start: Float) -> None:
        """Move the arm to where an episode from `start` (obs,) begins."""
        self._starts.append(start)
        try:
            self._world.reset(np.random.default_rng(0))
        finally:
            self._starts.clear()

    def watched(self, policy: AnyPolicy, history: int, start: Float) -> Float:
        """What is seen after every step of one episode from `start` (T, obs)."""
        seen: list[Float] = []
        self._tried(policy, history, start, seen)
        return np.concatenate(seen)

    def record(self, policy: TracedPolicy, history: int, rng: np.random.Generator) -> Trace:
        """One trial in full."""
        self._starts.append(self.trials(rng)[0])
        return record(self._world, policy, history, rng, lambda: self._qpos(self._world.sensed))

    def facts(self) -> dict[str, dict[str, float]]:
        """How it went with the robot: time kept, commands clipped, messages that were of no use."""
        return {
            "pace": self._world.pace.to_json(),
            "clipped": dict(vars(self._world.guard.clipped)),
            "traffic": dict(self._link.traffic.to_json()),
            "clock": {"ahead_s": self._link.ahead},
        }

    def close(self) -> None:
        """Leave the arm holding."""
        self._world.close()

    def _tried(
        self,
        policy: AnyPolicy,
        history: int,
        start: Float,
        seen: list[Float] | None = None,
        meter: EffortMeter | None = None,
    ) -> Float:
        task, world = self._task, self._world
        self.move_to(start)
        before, scores = self._measured(world.sensed), list[Float]()
        if meter is not None:
            meter.begin()
        for moment in rollout(world, policy, world.observations, history=history):
            after = self._measured(world.sensed)
            scores.append(task.score(before, moment.step.applied, after))
            before = after
            if meter is not None:
                meter.add(moment.step.applied, moment.running)
            if seen is not None:
                seen.append(moment.step.observations)
        return np.concatenate(scores)

    def _next_start(self, rng: np.random.Generator) -> Float:
        self._resets += 1
        return self._starts.popleft() if self._starts else self._observed(*self._task.robot_model.start(rng, 1))[0]

    def _observed(self, qpos: Float, qvel: Float) -> Float:
        body = self._task.robot_model
        out = np.zeros((len(qpos), body.spec.observation_size))
        body.observe({"qpos": qpos, "qvel": qvel}, out)
        return out

    def _qpos(self, observations: Float) -> Float:
        return self._state(observations)["qpos"]

    def _state(self, observations: Float) -> dict[str, Float]:
        model = self._task.robot_model.model
        qpos, qvel = np.zeros((len(observations), model.nq)), np.zeros((len(observations), model.nv))
        self._task.robot_model.restore(observations, qpos, qvel)
        return {"qpos": qpos, "qvel": qvel}

    def _measured(self, observations: Float) -> Float:
        return self._task.measure(self._fields(observations))

    def _fields(self, observations: Float) -> Fields:
        if self._placed is None:
            return self._state(observations)
        self._placed.place(observations)  # more than positions and velocities is needed
        return self._placed.fields

    def _over(self, observation: Float) -> bool:
        """Whether an episode ends at an observation (obs,)."""
        found = self._task.robot_model.ended(self._fields(observation[None]))
        return found is not None and bool(found[0])

    def _show(self, observation: Float) -> None:
        pace = self._world.pace
        self._missed += pace.lateness[-1] > LATE
        measured = np.atleast_2d(self._measured(observation[None]))
        distance = float(measured[0, 0]) if measured.size == 1 else None
        self._attended.look(Glimpse(distance, pace.rate, pace.steps, self._missed, pace.seconds))


def _clocks(link: Link) -> str:
    """How the robot's clock compares with ours, for a person."""
    if link.simulated:
        return "the robot has a simulated clock"
    if not link.ahead:
        return "the robot's clock agrees with this machine's"
    direction = "ahead of" if link.ahead > 0 else "behind"
    return f"the robot's clock is {1e3 * abs(link.ahead):.0f} ms {direction} this machine's, which is made up for"
