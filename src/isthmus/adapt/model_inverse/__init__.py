"""Fit the simulator's physics to the target, and invert the simulator for the action."""
