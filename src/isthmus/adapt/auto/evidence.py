"""What the target's own records say of a policy that ran there, without any reward.

The source's policy in its simulator is what is to be seen on the target. An episode is compared with that, from the
same start: how far its mean state is from the simulator's, in standard deviations along the way. Means over an episode
do not depend on the phase of a gait, which drifts apart in any case.
"""

from collections.abc import Sequence

import numpy as np

from isthmus.adapt.method import Source
from isthmus.core import Episode, Float, Trajectory, WorldSpec, rollout
from isthmus.core.statistics import standard_error

FEWEST = 3
"""Episodes of either policy from which anything is said."""
AS_IT_IS = 0.5
"""Share of its commands that are the source's in an episode of the unadapted policy: interruptions are not."""


def unadapted_runs(spec: WorldSpec, episodes: Sequence[Episode]) -> list[Trajectory]:
    """The runs in which the source's policy acted as it is."""
    return [
        episode[0]
        for episode in episodes
        if episode[0].commands.shape == episode[0].source.shape
        and spec.same(episode[0].commands, episode[0].source).mean() > AS_IT_IS
    ]


def surely_closer(source: Source, ours: Sequence[Trajectory], theirs: Sequence[Trajectory], by: float) -> bool:
    """Whether runs of ours were closer to the simulation than theirs, by so many standard errors of the difference."""
    if min(len(ours), len(theirs)) < FEWEST:
        return False
    steps = min(max(len(one) for one in runs) for runs in (ours, theirs))
    here, there = np.split(deviations(source, [*ours, *theirs], steps), [len(ours)])
    doubt = np.hypot(standard_error(here), standard_error(there))
    return bool(there.mean() - here.mean() > by * doubt)


def deviations(source: Source, runs: Sequence[Trajectory], steps: int) -> Float:
    """How far the mean state of each run (n,) is from that of the simulation, over their first steps at most."""
    simulated = _simulated(source, np.stack([one.observations[0] for one in runs]), steps)
    targets = source.spec.targets
    lengths = [min(len(one), steps) for one in runs]
    std = np.concatenate([seen[:length] for seen, length in zip(simulated, lengths, strict=True)])[:, targets].std(
        axis=0
    )
    away = [
        (one.observations[1 : 1 + length] - seen[:length])[:, targets].mean(axis=0)
        for one, seen, length in zip(runs, simulated, lengths, strict=True)
    ]
    return np.sqrt(np.square(np.stack(away) / np.where(std > 0, std, 1.0)).mean(axis=1))


def _simulated(source: Source, starts: Float, steps: int) -> Float:
    """What is seen in the simulator after each step (n, steps, obs) from the starts (n, obs)."""
    world, found = source.unclamped, list[Float]()
    for begin in range(0, len(starts), world.n):
        rows = np.minimum(np.arange(begin, begin + world.n), len(starts) - 1)
        placed = world.place(starts[rows])
        moments = rollout(world, source.policy, placed, steps=steps, explore=source.spec.clip, outlast=True)
        found.append(np.stack([moment.step.observations for moment in moments], axis=1))
    return np.concatenate(found)[: len(starts)]
