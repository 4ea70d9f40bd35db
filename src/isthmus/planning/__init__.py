"""Planning over a horizon as mathematics alone: box-limited iterative LQR, for n problems side by side."""

from isthmus.planning.ilqr import Plan, System, ilqr, improve
from isthmus.planning.local import Local

__all__ = ["Local", "Plan", "System", "ilqr", "improve"]
