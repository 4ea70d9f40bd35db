"""Draw how far each way to follow a source gets."""

from collections.abc import Mapping, Sequence
from typing import Any

from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure

COLOURS = {"actions": EXPERT, "observations and simulator": ADAPTED, "observations": UNADAPTED}


def draw_references(summary: Sequence[Mapping[str, Any]]) -> Figure:
    """A panel for each task and gap, a bar for each way."""
    cases = list(dict.fromkeys((row["task"], row["gap"]) for row in summary))
    figure = Figure(figsize=(8.8, 0.9 + 1.5 * len(cases)), layout="constrained")
    panels = figure.subplots(len(cases), 1, squeeze=False)[:, 0]
    for axes, case in zip(panels, cases, strict=True):
        rows = [row for row in summary if (row["task"], row["gap"]) == case]
        at = range(len(rows))
        axes.barh(at, [row["normalised"] for row in rows], color=[COLOURS[row["known"]] for row in rows], height=0.7)
        axes.axvline(1, color=EXPERT, linewidth=0.8, linestyle="--")
        axes.set_yticks(list(at), [_label(row) for row in rows], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(", ".join(case), fontsize=10, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("score (expert in its simulator = 1, doing nothing there = 0)")
    return figure


def _label(row: Mapping[str, Any]) -> str:
    way = row["method"] if row["follow"] == "auto" else f"{row['method']}, {row['follow']}"
    return f"{row['known']}: {way}"
