"""The smallest scale that data is divided by."""

SMALLEST_SCALE = 1e-6
"""A dimension that varies less, relative to its size, does so by rounding alone: it is left unscaled."""
