"""Pages about localisers."""

from isthmus.experiments.vision.page import write_preview, write_report

__all__ = ["write_preview", "write_report"]
