"""The paper's figure 5, made again: swings of the Fetch arm with a cord on it, over ROS."""

from isthmus.experiments.paper.figure_5.run import reproduce_figure_5
from isthmus.experiments.paper.figure_5.settings import FULL, QUICK, Settings
from isthmus.experiments.paper.figure_5.summary import Summary

__all__ = ["FULL", "QUICK", "Settings", "Summary", "reproduce_figure_5"]
