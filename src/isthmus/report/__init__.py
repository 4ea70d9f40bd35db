"""A run as a page for people: one HTML file that needs nothing else."""

from isthmus.report.report import write_report

__all__ = ["write_report"]
