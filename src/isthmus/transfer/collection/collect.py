"""One wave of episodes on the target, one on each robot."""

import numpy as np

from isthmus.adapt.settings.collect import CollectSettings
from isthmus.core import Bool, Episode, Float, HistoryBuffer, Lost, Trajectory
from isthmus.core.protocols import Placeable
from isthmus.policies import TracedPolicy
from isthmus.transfer.collection.reference_rollout import ReferenceRollout

NUDGE = 0.1
"""Of a random action's size, for a robot that is sent to positions: it is to be pushed, not thrown about. With 0.25 the
joints of a stand-in came to 1.4 times their speed limits, and nothing was learned better for it."""


def collect(
    robot: Placeable,
    policy: TracedPolicy,
    reference: ReferenceRollout,
    settings: CollectSettings,
    *,
    history: int,
    length: int,
    budget: int,
    rng: np.random.Generator,
) -> list[Episode]:
    """Run at most `length` steps on each robot, and at most `budget` in all; one episode a robot."""
    spec = robot.spec
    buffer = HistoryBuffer(spec, robot.n, history)
    observations = robot.reset(rng)
    buffer.begin(observations)
    reference.begin(observations)
    seen = [observations]
    taken: list[tuple[Float, Float, Float, Float]] = []
    moving, lengths = np.ones(robot.n, np.bool_), np.zeros(robot.n, np.int64)
    for _ in range(length):
        moving &= np.cumsum(moving) <= budget - lengths.sum()
        if not moving.any():
            break
        decision = policy.decide(buffer.window)
        command = _interrupted(decision.command, robot, settings, rng)
        try:
            step = robot.step(command, moving)
        except Lost:
            if not taken:
                raise
            break  # the steps before are as good as any; the next reset says what is wrong
        seen.append(step.observations)
        taken.append((command, step.applied, decision.source, decision.wanted))
        lengths += moving
        moving &= ~step.ended & (reference.drift(step.observations) <= settings.drift)
        buffer.append(step.applied, step.observations)
    runs = [_trajectory(seen, taken, world, int(steps)) for world, steps in enumerate(lengths) if steps]
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


def _trajectory(
    seen: list[Float], taken: list[tuple[Float, Float, Float, Float]], world: int, steps: int
) -> Trajectory:
    commands, applied, source, wanted = (
        np.stack([row[world] for row in column]) for column in zip(*taken[:steps], strict=True)
    )
    return Trajectory(np.stack([row[world] for row in seen[: steps + 1]]), commands, applied, source, wanted)


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
