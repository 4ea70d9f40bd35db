"""Where the cells of a heatmap are in a picture; apart from the networks, so that nothing else needs torch."""

STRIDE = 4
"""Pixels of a picture for a cell of its heatmap."""
PADDING = 8
"""Pixels that are added around a picture: the heatmap reaches beyond it, as objects do."""
