"""Figures 3, 4 and 5 of the paper, reproduced."""

from isthmus.experiments.paper.figure import Figure, Summary
from isthmus.experiments.paper.figure_3 import figure_3
from isthmus.experiments.paper.figure_4 import figure_4
from isthmus.experiments.paper.run import reproduce
from isthmus.experiments.paper.settings import QUICK_SEEDS, SEEDS

FIGURES = {"figure-3": figure_3, "figure-4": figure_4}

__all__ = ["FIGURES", "QUICK_SEEDS", "SEEDS", "Figure", "Summary", "reproduce"]
