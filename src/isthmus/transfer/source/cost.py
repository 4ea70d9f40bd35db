"""The task's own cost, in the source simulator alone."""

from isthmus.adapt import SourceCost
from isthmus.core import Float
from isthmus.tasks import Task


def source_cost(task: Task) -> SourceCost:
    """What planners minimise: the score that results are reported in, turned round."""
    simulator = task.unclamped()

    def predict(observations: Float, actions: Float, robots: int) -> tuple[Float, Float, Float]:
        return (simulator.serial if robots == 1 else simulator).predict_with(observations, actions, task.measure)

    def cost(before: Float, actions: Float, after: Float) -> Float:
        return -task.score(before, actions, after)

    return SourceCost(predict, cost)
