"""The estimation that a run asks for."""

from isthmus.core import Mlp, Problem, stream
from isthmus.core.extras import require
from isthmus.estimate.course import course_of
from isthmus.estimate.estimation import TRAINED, Estimation
from isthmus.estimate.sensors import sensed_columns
from isthmus.estimate.training import trained_network
from isthmus.transfer.config import Config
from isthmus.transfer.source.context import SourceContext
from isthmus.transfer.source.source import WORLDS

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
    course = course_of(context.policy, task.source(WORLDS), stream(config.seed, "course"))

    def train() -> Mlp:
        return trained_network(context.policy, task.robot_model, sensed, course, config.seed)

    return Estimation(config.estimator, task.robot_model, sensed, course, train)
