"""The oracle above every method: the best that one-step action adaptation could do, found in the target itself."""

from isthmus.evaluate.ceiling.ceiling import Ceiling, ceiling, estimated_ceiling
from isthmus.evaluate.ceiling.metrics import METRICS, make_metric
from isthmus.evaluate.ceiling.oracle import Oracle

__all__ = ["METRICS", "Ceiling", "Oracle", "ceiling", "estimated_ceiling", "make_metric"]
