"""Planning over a horizon as mathematics alone: box-limited iterative LQR, for n problems side by side."""

from isthmus.adapt.mpc.ilqr.local import Local
from isthmus.adapt.mpc.ilqr.solver import Plan, System, ilqr, improve

__all__ = ["Local", "Plan", "System", "ilqr", "improve"]
