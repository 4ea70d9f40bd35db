"""Error against images seen, and confidence against the share that is right."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from isthmus.experiments.drawing import ADAPTED, EXPERT, UNADAPTED, Figure, LogLocator

COLOURS = {"alone": ADAPTED, "distractors": UNADAPTED, "occluded": EXPERT}


def draw_report(history: Sequence[Mapping[str, Any]], figures: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The drawing of a localiser's report as SVG."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for condition, colour in COLOURS.items():
        images = [one["images"] for one in history]
        left.plot(images, [one[condition]["median_cm"] for one in history], "o-", color=colour, label=condition)
    left.set(xlabel="images seen", ylabel="median error in cm, on renderings", yscale="log")
    left.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    left.yaxis.set_minor_formatter("")
    left.yaxis.set_major_formatter("{x:g}")
    left.xaxis.set_major_formatter("{x:,.0f}")
    left.legend(frameon=False)
    right.plot([0, 1], [0, 1], ":", color=EXPERT)
    for name, one in figures.items():
        bins = one["confidence"]["bins"]
        right.plot([said for said, _, _ in bins], [was for _, was, _ in bins], "o-", label=name)
    right.set(xlabel="confidence", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    right.legend(frameon=False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
