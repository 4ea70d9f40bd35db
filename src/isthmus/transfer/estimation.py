"""The estimation that a run asks for."""

from functools import partial

from isthmus.core import Problem
from isthmus.core.extras import require
from isthmus.estimate.estimation import TRAINED, Estimation
from isthmus.estimate.sensors import sensed_columns
from isthmus.transfer.config import Config
from isthmus.transfer.source.context import SourceContext

NO_STAGE = ("firmware", "logs")
"""Kinds of target whose robots are made without an estimator."""


def estimation_of(config: Config, context: SourceContext) -> Estimation | None:
    """What stands before the target; None where its sensors show the observation, and are taken as they are."""
    task = context.task
    sensors = config.sensors or task.sensors
    if config.estimator == "none" and not sensors:
        return None
    if config.target.kind in NO_STAGE:
        raise Problem(f"a {config.target.kind} target has no estimator: leave out --estimator and --sensors")
    if task.estimator is not None:
        raise Problem(f"{task.name} has an estimator of its own: leave out --estimator and --sensors")
    if config.estimator in TRAINED:
        require(("torch",))
    sensed = sensed_columns(task.robot_model, sensors)
    return Estimation(
        config.estimator, task.robot_model, sensed, context.course, partial(context.estimator_network, sensed)
    )
