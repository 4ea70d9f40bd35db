"""Isthmus takes a robot policy that works in simulation across to the real robot, without retraining it."""
