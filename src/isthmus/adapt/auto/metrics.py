"""The metrics that `auto` chooses among: which errors count, where an underactuated robot cannot avoid all of them.

All follow from the source simulator and the policy. Which of them serves a policy best differs from policy to policy,
and is seen in rehearsal.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from isthmus.adapt.method import Method, Source
from isthmus.core import Episode, Float, History, WorldSpec, act
from isthmus.core.metric import ROOT_WEIGHT, Metric

DISCOUNTS = (0.97, 0.95, 0.99, 1.0)
"""Of the expected cost-to-go."""
COMPARED, ALIKE = 256, 0.02
"""Recorded states in which two metrics are compared, and the difference of their commands, in half ranges (root mean
square), up to which they are alike."""
EVEN, ROOT = "even weights", "weights on the root"


def other_metrics(source: Source) -> Mapping[str, Callable[[], Metric]]:
    """Metrics beside the cost-to-go, by name and in the order in which they are tried; each is worked out when asked.

    Where a reference is followed, what the policy does along it is not its own, and there are only the plain ones.
    """

    def even() -> Metric:
        return source.cost_to_go.evened()

    def rooted() -> Metric:
        return even().stressing(unactuated, ROOT_WEIGHT)

    def expected(discount: float) -> Metric:
        return source.courses.cost_to_go(discount, expected=True)

    unactuated = np.zeros(len(source.spec.targets), np.bool_) if source.unactuated is None else source.unactuated
    plain = {EVEN: even} | ({ROOT: rooted} if unactuated.any() else {})
    if source.reference is not None:
        return plain
    first, *rest = ((f"expected cost-to-go at {one:g}", partial(expected, one)) for one in DISCOUNTS)
    return dict([first, *plain.items(), *rest])


def some_states(episodes: Sequence[Episode]) -> Float:
    """A few of the observations that were recorded (n, obs)."""
    seen = np.concatenate([one.observations[:-1] for episode in episodes for one in episode])
    return seen[:: -(-len(seen) // COMPARED)]


def commands_in(spec: WorldSpec, method: Method, observations: Float) -> Float:
    """What a method commands in these states (n, act), if nothing was before."""
    still = np.zeros((len(observations), method.history - 1, spec.action_size))
    return act(method.policy(), History(np.repeat(observations[:, None], method.history, axis=1), still))[0]


def differ(spec: WorldSpec, ours: Float, theirs: Float) -> bool:
    """Whether the actuators make anything else of commands (n, act) than of others."""
    away = (spec.clip(ours) - spec.clip(theirs)) / spec.half_range
    return bool(np.sqrt(np.square(away).mean()) > ALIKE)
