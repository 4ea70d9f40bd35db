"""The one loop that runs a policy in a world."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isthmus.core.arrays import Bool, Float
from isthmus.core.history import HistoryBuffer
from isthmus.core.policy_state import act, initial_state, reset_rows
from isthmus.core.protocols import AnyPolicy, World
from isthmus.core.step import Step


@dataclass(frozen=True, slots=True)
class Moment:
    """One control step of n worlds."""

    before: Float
    """What was seen before it (n, obs)."""
    commands: Float
    """What was asked of the actuators, before any limit (n, act)."""
    step: Step
    """What came of it."""
    running: Bool
    """Which worlds took the step (n,); the others had ended or were stopped."""
    after: Float
    """What the next step is decided from (n, obs): of worlds that began a new episode, its first observation."""


def rollout(
    world: World,
    policy: AnyPolicy,
    start: Float,
    *,
    history: int = 1,
    steps: int | None = None,
    budget: int | None = None,
    explore: Callable[[Float], Float] | None = None,
    stop: Callable[[Step], Bool] | None = None,
    restart: np.random.Generator | None = None,
    outlast: bool = False,
) -> Iterator[Moment]:
    """Run `policy` from `start` (n, obs), which `world` was reset to or placed at, and yield every step.

    The loop holds the policy's state. A world that begins an episode, or takes no step, has the initial one.

    Args:
        world: n robots.
        policy: Sees the last `history` observations.
        start: What is seen at the start (n, obs).
        history: Observations in a window.
        steps: The most control steps; the horizon by default.
        budget: The most steps of all worlds together; the first worlds go first.
        explore: Makes of the policy's commands (n, act) those that are given.
        stop: Which worlds (n,) are not to go on after a step, besides those that ended.
        restart: Draws new episodes for worlds that end; by default they stay as they are.
        outlast: Whether to go on for all `steps` when no world runs any more.
    """
    buffer = HistoryBuffer(world.spec, world.n, history)
    buffer.begin(start)
    state = initial = initial_state(policy, world.n)
    running, taken = np.ones(world.n, np.bool_), 0
    for _ in range(world.spec.horizon if steps is None else steps):
        if budget is not None:
            running = running & (np.cumsum(running) <= budget - taken)
        if not (outlast or running.any()):
            return
        before = buffer.window.current
        commands, state = act(policy, buffer.window, state)
        if explore is not None:
            commands = explore(commands)
        step = world.step(commands, None if running.all() else running)
        taken += int(running.sum())
        buffer.append(step.applied, step.observations)
        goes_on = running & ~step.ended
        if stop is not None:
            goes_on &= ~stop(step)
        idle = ~running
        if restart is not None and step.ended.any():
            buffer.begin(world.reset(restart, step.ended), step.ended)
            goes_on, idle = goes_on | step.ended, idle | step.ended
        if idle.any():
            state = reset_rows(state, initial, idle)
        yield Moment(before, commands, step, running, buffer.window.current)
        running = goes_on
