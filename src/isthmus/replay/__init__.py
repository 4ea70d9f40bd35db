"""Open-loop replays of a robot's logs: what the simulator gets wrong, and which physics puts it right."""
