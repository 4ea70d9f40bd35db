"""The drawing of a gap report: a held-out replay, transfer functions and coherence of some joints."""

import numpy as np

from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure
from isthmus.replay.explain import predictor
from isthmus.replay.gap import SOURCE, GapReport
from isthmus.replay.windows import Windows

SHOWN = 4
"""Joints that are drawn, at most: those with the largest errors."""


def draw(report: GapReport) -> Figure:
    """Courses above, gains from command to position in the middle, coherence below."""
    off = report.row(SOURCE).horizons[-1].joints
    joints = sorted(int(one) for one in np.argsort(off)[::-1][:SHOWN])
    figure = Figure(figsize=(3.2 * max(len(joints), 2), 6.6), layout="constrained")
    grid = figure.subplots(3, len(joints), squeeze=False)
    test = report.parts.test
    where = Windows(report.windows.first[len(report.windows) // 2 :][:1], report.windows.length)
    time = test.dt * np.arange(where.length)
    drawn = {
        "simulator": (predictor(report.rig), UNADAPTED),
        "fitted": (predictor(report.rig, report.fitted, report.residual), ADAPTED),
    }
    courses = {name: one(test, where)[0] for name, (one, _) in drawn.items()}
    for column, joint in enumerate(joints):
        above, middle, below = grid[0][column], grid[1][column], grid[2][column]
        above.plot(time, where.of(test.position)[0, :, joint], color=EXPERT, linewidth=1.8, label="recorded")
        spectrum = report.spectra[joint]
        heard = spectrum.frequency > 0
        hertz = spectrum.frequency[heard]
        middle.loglog(hertz, np.abs(spectrum.recorded[heard]) + 1e-12, color=EXPERT, linewidth=1.8)
        for name, (_, colour) in drawn.items():
            above.plot(time, courses[name][:, joint], color=colour, linewidth=1.1, label=name)
            middle.loglog(hertz, np.abs(spectrum.simulated[name][heard]) + 1e-12, color=colour, linewidth=1.1)
        below.semilogx(hertz, spectrum.coherence[heard], color=EXPERT, linewidth=1.2)
        below.set_ylim(0, 1)
        above.set_title(report.rig.joints[joint], loc="left", fontsize=9)
        above.set_xlabel("s")
        below.set_xlabel("Hz")
        for axes in (above, middle, below):
            axes.spines[["top", "right"]].set_visible(False)
    grid[0][0].set_ylabel("position")
    grid[1][0].set_ylabel("gain from command")
    grid[2][0].set_ylabel("coherence, recorded")
    grid[0][0].legend(fontsize=7, frameon=False)
    figure.suptitle("A held-out replay; gains and coherence of command and position", fontsize=10, x=0.01, ha="left")
    return figure
