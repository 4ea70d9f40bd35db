"""The gap report: figures, drawing and page of what a simulator gets wrong about a robot's recordings."""

from isthmus.experiments.gap.page import write_gap_report
from isthmus.experiments.gap.results import figures

__all__ = ["figures", "write_gap_report"]
