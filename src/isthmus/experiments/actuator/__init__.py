"""What came of fitting actuator models to a log: figures, a drawing and a page."""

from isthmus.experiments.actuator.page import page, write_results
from isthmus.experiments.actuator.results import figures, markdown, verdict

__all__ = ["figures", "markdown", "page", "verdict", "write_results"]
