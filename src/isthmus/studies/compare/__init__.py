"""Every method on the same gap, and the ceiling above them."""

from isthmus.studies.compare.case import Case
from isthmus.studies.compare.comparison import Comparison
from isthmus.studies.compare.run import compare

__all__ = ["Case", "Comparison", "compare"]
