"""Differences between source and target that can be dialled in."""

from isthmus.gaps.gap import Gap
from isthmus.gaps.kind import GapKind
from isthmus.gaps.kinds import KINDS
from isthmus.gaps.mixture import MIXTURE
from isthmus.gaps.ranges import Ranges

__all__ = ["KINDS", "MIXTURE", "Gap", "GapKind", "Ranges"]
