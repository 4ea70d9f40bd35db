"""How long one robot waits for its command."""

import time

import numpy as np

from isthmus.core import HistoryBuffer, Policy, World

WARM, FEWEST, MOST = 5, 10, 200
"""Calls that are not counted, and those that are."""
PATIENCE = 1.0
"""Seconds that a slow policy is measured for."""


def step_microseconds(policy: Policy, history: int, world: World, rng: np.random.Generator) -> float:
    """The median time of a command for one robot; `world` is to be a simulator, for none of its steps is counted.

    A busy machine makes the time on the clock longer, and several threads that on the processors: the lesser is ours.
    """
    buffer = HistoryBuffer(world.spec, world.n, history)
    buffer.begin(world.reset(rng))
    took: list[float] = []
    while len(took) < WARM + FEWEST or (len(took) < WARM + MOST and sum(took) < PATIENCE):
        began, busy = time.perf_counter(), time.process_time()
        commands = policy(buffer.window)
        took.append(min(time.perf_counter() - began, time.process_time() - busy))
        step = world.step(commands)
        if step.ended.any():
            buffer.begin(world.reset(rng))
        else:
            buffer.append(step.applied, step.observations)
    return 1e6 * float(np.median(took[WARM:]))
