"""The drawing of a fit: the course of some joints on held-out motion, and what the data covers."""

from typing import Any

import numpy as np

from isthmus.actuators.fit.study import Study
from isthmus.actuators.reading import Reading
from isthmus.core import Float
from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure

DOTS = 4000
POINTS: dict[str, Any] = {"markersize": 1.5, "alpha": 0.4, "rasterized": True}
"""Clouds of points are pixels in the drawing: as shapes they would take megabytes."""


def draw(reading: Reading, courses: dict[str, Any], study: Study, inputs: Float | None) -> Figure:
    """Courses above, errors against velocities below: grey is the data, orange a policy's own inputs."""
    joints = courses["joints"]
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    grid = figure.subplots(2, len(joints), squeeze=False)
    time = courses["dt"] * np.arange(len(courses["real"]))
    log = reading.log
    for column, joint in enumerate(joints):
        above, below = grid[0][column], grid[1][column]
        above.plot(time, courses["real"][:, joint], color=EXPERT, linewidth=1.6, label="recorded")
        colours = (UNADAPTED, ADAPTED)
        for (name, values), colour in zip(courses["models"].items(), colours, strict=False):
            above.plot(time, values[:, joint], color=colour, linewidth=1.0, label=name)
        above.set_title(log.joints[joint], loc="left", fontsize=9)
        above.set_xlabel("s")
        every = max(1, len(log) // DOTS)
        below.plot(log.error[::every, joint], log.velocity[::every, joint], ".", color=EXPERT, **POINTS)
        if inputs is not None:
            step = max(1, len(inputs) // DOTS)
            below.plot(inputs[::step, joint, 0], inputs[::step, joint, 1], ".", color=UNADAPTED, **POINTS)
        below.set_xlabel("target - position, rad" if log.command == "position" else "command")
        for axes in (above, below):
            axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set_ylabel(courses["unit"])
    grid[0][0].legend(fontsize=7, frameon=False)
    grid[1][0].set_ylabel("velocity, rad/s")
    figure.suptitle(
        f"{study.best.name} on held-out motion; below, what the data covers", fontsize=10, x=0.01, ha="left"
    )
    return figure
