"""Drawings of seeds, sensitivity and random gaps."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure, save_drawing
from isthmus.experiments.seeds import SeedStudy
from isthmus.experiments.sensitivity import Curve

COLUMNS = 4


def plot_curve(study: SeedStudy, path: Path) -> None:
    """Score against target samples: every seed, their median, and what there is without adaptation."""
    samples, by_sample = study.curves()
    scores = np.array(by_sample)  # (points, seeds)
    unadapted = float(np.median(scores[0]))
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1, color=EXPERT, linewidth=1, linestyle="--")
    axes.axhline(unadapted, color=UNADAPTED, linewidth=1.5)
    axes.plot(samples, scores, color=ADAPTED, linewidth=0.7, alpha=0.35)
    axes.plot(samples, np.median(scores, axis=1), color=ADAPTED, linewidth=2.2)
    right = samples[-1]
    axes.text(right, 1.005, "expert in its own simulator", color=EXPERT, ha="right", va="bottom")
    axes.text(right, unadapted + 0.008, "expert on the target, unadapted", color=UNADAPTED, ha="right", va="bottom")
    middle = len(samples) // 2
    axes.annotate(
        f"adapted: {scores.shape[1]} seeds and their median",
        (samples[middle], float(np.median(scores[middle]))),
        xytext=(0, -22),
        textcoords="offset points",
        color=ADAPTED,
        va="top",
    )
    axes.set_xlim(0, right)
    axes.set_ylim(min(0.0, scores.min()) if scores.min() < 0.3 else scores.min() - 0.08, max(1.06, scores.max() + 0.02))
    axes.set_xlabel("steps taken on the target")
    axes.set_ylabel("score (expert in its simulator = 1)")
    axes.set_title(f"{study.config.task}, {study.config.gap}, {study.config.method}", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    save_drawing(figure, path)


def plot_sensitivity(task: str, curves: Sequence[Curve], path: Path) -> None:
    """Score against each dial, side by side."""
    rows = -(-len(curves) // COLUMNS)
    figure = Figure(figsize=(2.4 * COLUMNS, 1.9 * rows), layout="constrained")
    grid = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, curve in zip(grid.flat, curves, strict=False):
        axes.set_axis_on()
        axes.axhline(1, color=EXPERT, linewidth=0.8, linestyle="--")
        axes.axhline(0, color=EXPERT, linewidth=0.5)
        axes.errorbar(curve.values, curve.normalised, curve.standard_error, color=UNADAPTED, marker="o", markersize=3)
        axes.set_title(curve.dial, fontsize=9, loc="left")
        axes.tick_params(labelsize=8)
        axes.set_ylim(-0.3, 1.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supylabel("score (expert in its simulator = 1)", fontsize=9)
    figure.suptitle(f"{task}: the expert, unadapted, across each gap", fontsize=11, x=0.01, ha="left")
    save_drawing(figure, path)


def draw_random_gaps(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure:
    """The unadapted, the adapted and the predicted score on every gap, with a panel for each robot."""
    figure = Figure(figsize=(8.8, 3.4), layout="constrained")
    panels = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    for axes, (task, crossings) in zip(panels, rows.items(), strict=True):
        ordered = sorted(crossings, key=lambda row: row["unadapted"])
        at = range(len(ordered))
        before, after = ([row[name] for row in ordered] for name in ("unadapted", "adapted"))
        predicted = [np.nan if row["foreseen"] is None else row["foreseen"] for row in ordered]
        axes.axhline(1, color=EXPERT, linewidth=0.8, linestyle="--")
        axes.vlines(at, before, after, color=ADAPTED, linewidth=1, alpha=0.5)
        axes.plot(at, before, "o", color=UNADAPTED, markersize=4, label="unadapted")
        axes.plot(at, after, "o", color=ADAPTED, markersize=4, label="adapted")
        axes.plot(at, predicted, "o", color=ADAPTED, markersize=8, fillstyle="none", linewidth=0, label="predicted")
        axes.set_title(task, fontsize=10, loc="left")
        axes.set_xticks([])
        axes.set_xlabel("random gaps")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("score (expert in its simulator = 1)")
    panels[0].legend(loc="lower right", fontsize=8, frameon=False)
    return figure
