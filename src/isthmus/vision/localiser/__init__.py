"""The localiser: a heatmap over the whole picture, then crops at full resolution that confirm and refine."""
