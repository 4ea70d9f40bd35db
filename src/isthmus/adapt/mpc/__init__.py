"""Model predictive control on the simulator, adapted online to what the robot does."""

from isthmus.adapt.mpc.method import PlanningMethod

__all__ = ["PlanningMethod"]
