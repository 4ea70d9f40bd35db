"""Drawings of the studies of firmware."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.experiments.drawing import ADAPTED, UNADAPTED, Figure, save_drawing

COLOURS = {"in order of arrival": UNADAPTED, "by their id": ADAPTED}
STEPS = ("torque_step_rms", "change of the torques a ms, rms (N m)")
HEIGHT = ("height_m", "height of the trunk at the end (m)")


def plot_story(
    latest_ms: Sequence[float], runs: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], path: Path
) -> None:
    """Torque ripple and height against the latest reply: every seed and their median, for both ways to take replies.

    `runs` has for each way, each latest reply and each seed the figures of a run.
    """
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    for axes, (key, label) in zip(figure.subplots(1, 2), (STEPS, HEIGHT), strict=True):
        for name, by_delay in runs.items():
            values = np.array([[run[key] for run in seeds] for seeds in by_delay])  # (delays, seeds)
            axes.plot(latest_ms, values, ".", color=COLOURS[name], markersize=4, alpha=0.5)
            axes.plot(latest_ms, np.median(values, axis=1), color=COLOURS[name], linewidth=2, label=f"replies {name}")
        axes.set_xlabel("motors reply after 0.4 ms to ... (ms)")
        axes.set_ylabel(label)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_yscale("log")
    figure.axes[0].legend(frameon=False, fontsize=8)
    save_drawing(figure, path)


def plot_policies(told: Mapping[str, Any], path: Path) -> None:
    """Scores of policies on the firmware, with a prompt link and a late one: every seed, and the medians as bars."""
    arms, seeds = list(told["arms"]), range(told["seeds"])
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    axes = figure.subplots()
    for shift, link, colour in ((-0.2, "prompt", UNADAPTED), (0.2, "late", ADAPTED)):
        values = np.array([[told["runs"][f"{arm}/{seed}"][link] for seed in seeds] for arm in arms])  # (arms, seeds)
        places = np.arange(len(arms)) + shift
        axes.bar(places, np.median(values, axis=1), 0.36, color=colour, alpha=0.5, label=f"{link} link")
        axes.plot(np.repeat(places, len(seeds)), values.ravel(), ".", color=colour, markersize=5)
    axes.set_xticks(np.arange(len(arms)), arms)
    axes.set_ylabel("score on the firmware")
    axes.set_ylim(0, 1.15)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
    save_drawing(figure, path)
