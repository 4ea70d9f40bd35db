"""The oracle above every method: the best that one-step action adaptation could do, found in the target itself."""

from isthmus.evaluate.oracle.metrics import METRICS, make_metric
from isthmus.evaluate.oracle.policy import Oracle
from isthmus.evaluate.oracle.score import Ceiling, ceiling, estimated_ceiling

__all__ = ["METRICS", "Ceiling", "Oracle", "ceiling", "estimated_ceiling", "make_metric"]
