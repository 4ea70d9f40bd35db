"""Where the cells of a heatmap are in a picture; apart from the networks, so that nothing else needs torch."""

STRIDE = 4
"""Pixels of a crop for a cell of its heatmap."""
COARSE_STRIDE = 8
"""Pixels of the whole picture for a cell of its heatmap: coarser, as it only has to tell where to look closer."""
COARSE_REACH = 1
"""Cells on each side of a peak of the first stage that belong to it: about half a crop."""
PADDING = 8
"""Pixels that are added around a picture: the heatmap reaches beyond it, as objects do."""
