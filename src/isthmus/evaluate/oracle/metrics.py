"""What the oracle minimises: it cannot reach everything, so its score depends on which errors count."""

from collections.abc import Callable

import numpy as np

from isthmus.adapt.common.cost_to_go import cost_to_go, even_metric
from isthmus.core import AnyPolicy, unknown_name
from isthmus.core.metric import ROOT_WEIGHT, Metric
from isthmus.sim.unactuated import unactuated_targets
from isthmus.tasks import Task

ROLLOUTS = 16
"""Simulations of the policy's trajectory that tell how much an observation changes in a step."""


def _even(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return even_metric(policy, task.unclamped(ROLLOUTS), rng)


def _root(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return _even(task, policy, rng).stressing(unactuated_targets(task.robot_model), ROOT_WEIGHT)


def _cost_to_go(task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    return cost_to_go(policy, task.unclamped(ROLLOUTS), rng)


METRICS: dict[str, Callable[[Task, AnyPolicy, np.random.Generator], Metric]] = {
    "even": _even,
    "root": _root,
    "cost-to-go": _cost_to_go,
}
"""All alike, in standard deviations of a step; the unactuated five times more; or by what correcting an error costs."""


def make_metric(name: str, task: Task, policy: AnyPolicy, rng: np.random.Generator) -> Metric:
    """The metric of that name, from the source simulator alone."""
    if name not in METRICS:
        raise unknown_name("metric", name, METRICS)
    return METRICS[name](task, policy, rng)
