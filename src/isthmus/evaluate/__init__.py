"""Scores. Adaptation cannot import this package; that is the point of it."""

from isthmus.evaluate.evaluation import Evaluation, Scale, Scorable, evaluate
from isthmus.evaluate.trace import Trace, record

__all__ = ["Evaluation", "Scale", "Scorable", "Trace", "evaluate", "record"]
