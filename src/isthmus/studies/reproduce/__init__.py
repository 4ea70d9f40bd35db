"""The paper's figures 3 and 4, made again."""

from isthmus.studies.reproduce.figure import Figure
from isthmus.studies.reproduce.figure_3 import figure_3
from isthmus.studies.reproduce.figure_4 import figure_4
from isthmus.studies.reproduce.run import Progress, reproduce
from isthmus.studies.reproduce.settings import QUICK_SEEDS, SEEDS

FIGURES = {"figure-3": figure_3, "figure-4": figure_4}

__all__ = ["FIGURES", "QUICK_SEEDS", "SEEDS", "Figure", "Progress", "reproduce"]
