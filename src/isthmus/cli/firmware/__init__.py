"""Commands that run a robot's own firmware."""
