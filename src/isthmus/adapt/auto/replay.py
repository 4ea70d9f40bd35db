"""Does a simulation move as the target did? What was recorded there is done again in it.

A fit to single steps may be good at each of them and wrong about where they lead: few samples along one course leave
much of the physics open. So recorded runs begin again at the same states, with the same commands but for what the
source's policy makes of the states that differ,

    a = a_recorded + pi_src(o) - pi_src(o_recorded)

Of a run in which that policy acted, this is the closed loop. Of others it is near: without any feedback, a robot that
balances would fall over the first small error. States are compared by their means and standard deviations over a run,
since the phase of a gait drifts apart in any case.
"""

from collections.abc import Sequence

import numpy as np

from isthmus.core import AnyPolicy, Bool, Float, Int, Trajectory, rollout
from isthmus.core.protocols import Placeable
from isthmus.core.statistics import PairedGain

FEWEST, MOST = 3, 24
"""Runs from which anything is said, and the latest that are done again."""
LONGEST = 250
"""Steps of a run that are done again at most."""


def can_replay(runs: Sequence[Trajectory]) -> bool:
    """Whether there are enough runs, by actions of the kind that the source's policy gives."""
    return len(runs) >= FEWEST and all(run.commands.shape == run.source.shape for run in runs)


def replay_errors(world: Placeable, policy: AnyPolicy, runs: Sequence[Trajectory], targets: Int) -> Float:
    """How far each run (n,) goes from what was recorded, in standard deviations of what was recorded."""
    lengths = np.array([min(len(run), LONGEST) for run in runs])
    over: Bool = np.arange(int(lengths.max()))[:, None] < lengths  # (t, n)
    given = _padded([(run.commands - run.source)[:LONGEST] for run in runs])
    recorded = _padded([run.observations[1 : LONGEST + 1, targets] for run in runs])
    offsets = iter(given)
    moments = rollout(
        world,
        policy,
        world.place(np.stack([run.observations[0] for run in runs])),
        steps=len(given),
        explore=lambda commands: commands + next(offsets),
        outlast=True,
    )
    seen = np.stack([moment.step.observations[:, targets] for moment in moments])  # (t, n, d)
    std = recorded[over].std(axis=0)
    away = (_summaries(seen, over) - _summaries(recorded, over)) / np.where(std > 0, std, 1.0)
    return np.sqrt(np.square(away).mean(axis=(0, 2)))


def surely_nearer(ours: Float, theirs: Float, by: float) -> bool:
    """Whether errors (n,) of ours are smaller than theirs, by so many standard errors of the difference."""
    return PairedGain.of(theirs, ours, ddof=1).exceeds(by=by)


def _padded(arrays: Sequence[Float]) -> Float:
    """Arrays (t, k) of different lengths, with zeros behind them (t, n, k)."""
    padded = np.zeros((max(map(len, arrays)), len(arrays), arrays[0].shape[1]))
    for number, array in enumerate(arrays):
        padded[: len(array), number] = array
    return padded


def _summaries(states: Float, over: Bool) -> Float:
    """Mean and standard deviation of states (t, n, d) over the steps of each run (2, n, d)."""
    weights = over[..., None] / over.sum(axis=0)[:, None]
    mean = (weights * states).sum(axis=0)
    return np.stack((mean, np.sqrt((weights * np.square(states - mean)).sum(axis=0))))
