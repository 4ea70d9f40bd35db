"""A camera that no localiser is trained on: a path tracer, with natural materials and a real lens."""
