"""One wave of episodes on the target, one on each robot."""

import numpy as np

from isthmus.adapt.settings import CollectSettings
from isthmus.core import AnyPolicy, Bool, Episode, Float, Lost, Moment, Simulator, Step, Trajectory, rollout
from isthmus.core.protocols import Placeable
from isthmus.policies import Decision, DecisionLog, TracedPolicy


class ReferenceRollout:
    """A simulation that runs beside the robots and tells how far they have drifted from it."""

    def __init__(self, policy: AnyPolicy, simulator: Simulator, history: int, scale: Float) -> None:
        """Follow `policy` in `simulator`, which holds as many worlds as there are robots."""
        self._policy, self._simulator, self._history = policy, simulator, history
        self._targets = simulator.spec.targets
        self._scale = scale[self._targets]

    def begin(self, observations: Float, steps: int) -> None:
        """Start where the robots are (n, obs), for so many steps."""
        start = self._simulator.place(observations)
        self._moments = rollout(self._simulator, self._policy, start, history=self._history, steps=steps, outlast=True)

    def drift(self, observations: Float) -> Float:
        """Move on by one step; how far `observations` (n, obs) are from there, in standard deviations (n,)."""
        away = (observations - next(self._moments).step.observations)[:, self._targets] / self._scale
        return np.sqrt(np.square(away).mean(axis=1))


def observation_scale(policy: AnyPolicy, simulator: Simulator, history: int, rng: np.random.Generator) -> Float:
    """How much each observation varies along the source's trajectory (obs,)."""
    start = simulator.reset(rng)
    steps = (moment.step for moment in rollout(simulator, policy, start, history=history))
    std = np.concatenate([start, *(step.observations[~step.ended] for step in steps)]).std(axis=0)
    return np.where(std > 0, std, 1.0)


NUDGE = 0.1
"""Of a random action's size, for a robot that is sent to positions: it is to be pushed, not thrown about. With 0.25 the
joints of a stand-in came to 1.4 times their speed limits, and nothing was learned better for it."""


def collect(
    robot: Placeable,
    policy: TracedPolicy,
    reference: ReferenceRollout | None,
    settings: CollectSettings,
    *,
    history: int,
    length: int,
    budget: int,
    rng: np.random.Generator,
) -> list[Episode]:
    """Run at most `length` steps on each robot, and at most `budget` in all; one episode a robot.

    Without a `reference` in simulation no episode is cut short for its drift.
    """
    start, log, moments = robot.reset(rng), DecisionLog(policy), list[Moment]()
    if reference is not None:
        reference.begin(start, length)

    def explore(commands: Float) -> Float:
        return _interrupted(commands, robot, settings, rng)

    def is_lost(step: Step) -> Bool:
        if reference is None:
            return np.zeros(robot.n, np.bool_)
        return ~(reference.drift(step.observations) <= settings.drift)

    steps = rollout(robot, log, start, history=history, steps=length, budget=budget, explore=explore, stop=is_lost)
    try:
        for moment in steps:
            moments.append(moment)
    except Lost:
        if not moments:
            raise
        # The steps before are as good as any; the next reset says what is wrong.
    lengths = np.array([moment.running for moment in moments]).reshape(-1, robot.n).sum(axis=0)
    runs = [_trajectory(moments, log.decisions, world, int(steps)) for world, steps in enumerate(lengths) if steps]
    left = budget - int(lengths.sum())
    episodes: list[Episode] = []
    for run in runs:
        placed = _placed(robot, run, settings, history, left, rng) if settings.placed else []
        left -= len(placed)
        episodes.append([run, *placed])
    return episodes


def _interrupted(commands: Float, robot: Placeable, settings: CollectSettings, rng: np.random.Generator) -> Float:
    """The commands, some of them replaced by a random action: near the command itself where that is a position."""
    hit: Bool = rng.random(len(commands)) < settings.interrupt
    random = _random(robot, len(commands), settings, rng)
    if robot.spec.commands == "position":
        random = commands + NUDGE * random
    return np.where(hit[:, None], random, commands)


def _random(robot: Placeable, n: int, settings: CollectSettings, rng: np.random.Generator) -> Float:
    spec = robot.spec
    middle = (spec.action_low + spec.action_high) / 2
    return middle + settings.interrupt_scale * spec.half_range * rng.uniform(-1, 1, (n, spec.action_size))


def _trajectory(moments: list[Moment], decisions: list[Decision], world: int, steps: int) -> Trajectory:
    """The first `steps` steps of one world."""
    taken, decided = moments[:steps], decisions[:steps]
    return Trajectory(
        observations=np.stack([taken[0].before[world], *(moment.step.observations[world] for moment in taken)]),
        commands=np.stack([moment.commands[world] for moment in taken]),
        applied=np.stack([moment.step.applied[world] for moment in taken]),
        source=np.stack([decision.source[world] for decision in decided]),
        wanted=np.stack([decision.wanted[world] for decision in decided]),
    )


def _placed(
    robot: Placeable, run: Trajectory, settings: CollectSettings, history: int, budget: int, rng: np.random.Generator
) -> list[Trajectory]:
    """Single steps with random actions from states along `run`, each led by the run's own history."""
    states = np.repeat(np.arange(len(run)), settings.placed)[:budget]
    tried: list[Trajectory] = []
    for begin in range(0, len(states), robot.n):
        now = states[begin : begin + robot.n]
        rows = np.concatenate((now, np.full(robot.n - len(now), now[-1])))
        which = np.arange(robot.n) < len(now)
        robot.place(run.observations[rows])
        command = _random(robot, robot.n, settings, rng)
        step = robot.step(command, which)
        tried += [
            _branch(run, t, history, step.observations[i], command[i], step.applied[i]) for i, t in enumerate(now)
        ]
    return tried


def _branch(run: Trajectory, t: int, history: int, seen: Float, command: Float, applied: Float) -> Trajectory:
    """The last `history` observations up to step t of `run`, and then another action and where it led."""
    context = min(history - 1, t)
    past = slice(t - context, t)
    return Trajectory(
        observations=np.vstack((run.observations[t - context : t + 1], seen)),
        commands=np.vstack((run.commands[past], command)),
        applied=np.vstack((run.applied[past], applied)),
        source=run.source[t - context : t + 1],
        wanted=run.wanted[t - context : t + 1],
        context=context,
    )
