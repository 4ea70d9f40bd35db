"""How well rehearsals foresee what comes of an adapted policy: predicted against achieved scores over many runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.experiments.drawing import ADAPTED, EXPERT, Figure

NEAR = 0.1
"""A prediction that is not off by more than this, as a share of the expert's score, is near."""


@dataclass(frozen=True)
class Prediction:
    """One run: normalised scores."""

    predicted: float
    achieved: float


@dataclass(frozen=True)
class PredictionQuality:
    """Figures over all runs that predicted something."""

    runs: int
    near: float
    """Share of the runs whose prediction is near."""
    bias: float
    """Predicted minus achieved on average: positive where rehearsals promise too much."""
    rmse: float

    @staticmethod
    def of(predictions: Sequence[Prediction]) -> "PredictionQuality | None":
        """Over these runs; None where there are none."""
        if not predictions:
            return None
        errors = np.array([one.predicted - one.achieved for one in predictions])
        near = float((np.abs(errors) <= NEAR).mean())
        return PredictionQuality(len(errors), near, float(errors.mean()), float(np.sqrt(np.square(errors).mean())))

    def __str__(self) -> str:
        """As a line under a table."""
        return (
            f"{self.near:.0%} of {self.runs} predictions within {NEAR:g} of what was achieved; "
            f"{self.bias:+.3f} on average, {self.rmse:.3f} root mean square"
        )


def draw_predictions(predictions: Sequence[Prediction]) -> Figure:
    """A point for each run; the band holds those that are near."""
    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axes = figure.subplots()
    scores = [score for one in predictions for score in (one.predicted, one.achieved)]
    ends = np.array([min([0.0, *scores]), max([1.0, *scores])])
    axes.fill_between(ends, ends - NEAR, ends + NEAR, color=EXPERT, alpha=0.12, linewidth=0)
    axes.plot(ends, ends, color=EXPERT, linewidth=0.8, linestyle="--")
    axes.plot(
        [one.predicted for one in predictions],
        [one.achieved for one in predictions],
        "o",
        color=ADAPTED,
        markersize=4,
        alpha=0.6,
    )
    axes.set_xlabel("predicted in rehearsal")
    axes.set_ylabel("achieved on the target")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
