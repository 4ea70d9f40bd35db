"""A picture of a log: every series over time, and how evenly it was sampled."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from isthmus.experiments.drawing import EXPERT, Figure, save_drawing
from isthmus.logs import Log
from isthmus.logs.inspect import SeriesFacts

MOST_SERIES = 24
MOST_POINTS = 3000


def plot_log(log: Log, facts: Sequence[SeriesFacts], path: Path) -> None:
    """Draw the first series of a log, one row each: values on the left, time steps on the right."""
    rows = [one for one in facts if one.samples > 1][:MOST_SERIES]
    figure = Figure(figsize=(10, 1.5 * len(rows) + 0.4), layout="constrained")
    grid = figure.subplots(len(rows), 2, squeeze=False, width_ratios=[4, 1])
    for (values, steps), one in zip(grid, rows, strict=True):
        series = log.series[one.name]
        every = max(1, len(series.time) // MOST_POINTS)
        values.plot(series.time[::every], series.values[::every], linewidth=0.7)
        unit = f" [{one.guess.unit}]" if one.guess.unit else ""
        values.set_title(f"{one.name}{unit}", loc="left", fontsize=8)
        milliseconds = 1e3 * np.diff(series.time)
        steps.hist(milliseconds, bins=40, color=EXPERT, log=True)
        steps.set_title("steps [ms]", loc="left", fontsize=8)
        for axes in (values, steps):
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
    grid[-1, 0].set_xlabel("time [s]", fontsize=8)
    save_drawing(figure, path)
