"""Every method on the same gap, and the oracle beside them."""

from isthmus.experiments.comparison.case import Case
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.run import compare

__all__ = ["Case", "Comparison", "compare"]
