"""Differences between source and target that can be dialled in."""

from isthmus.gaps.gap import Gap
from isthmus.gaps.kinds import KINDS, GapKind

__all__ = ["KINDS", "Gap", "GapKind"]
