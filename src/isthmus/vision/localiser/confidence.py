"""How sure to be: the probability of having the right object, calibrated on renderings that were not trained on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.optimize import minimize as untyped_minimize  # pyright: ignore[reportUnknownVariableType]

from isthmus.core import Bool, Float

RIDGE = 1e-2
"""Weight on the squared coefficients: keeps them finite when all answers are right."""
BINS = 10


minimize = cast("Callable[..., Mapping[str, Float]]", untyped_minimize)


@dataclass(frozen=True)
class Calibration:
    """Coefficients that turn a candidate's features into a probability, and a spread into metres."""

    coefficients: tuple[float, float, float, float] = (0.0, 1.0, 0.0, 0.0)
    """Constant; log odds of the crop and of the coarse heatmap, and the margin to the next candidate."""
    std_scale: float = 1.0
    """Times the heatmap's standard deviation: the root-mean-square error of the right object."""
    coarse_weight: float = 0.3
    """Weight of the first stage's log probability beside the second's log odds, when a candidate is chosen."""

    def probability(self, features: Float) -> float:
        """That the right object was chosen."""
        score = self.coefficients[0] + float(np.asarray(self.coefficients[1:]) @ features)
        return float(1 / (1 + np.exp(-np.clip(score, -50, 50))))


def fit_calibration(features: Float, right: Bool, error: Float, std: Float, before: Calibration) -> Calibration:
    """Logistic regression of `right` (n,) on features (n, 3), and the scale of std (n,) against error (n,)."""
    design = np.column_stack([np.ones(len(features)), features])
    wanted = right.astype(float)

    def loss(coefficients: Float) -> tuple[float, Float]:
        score = design @ coefficients
        each = np.logaddexp(0, score) - wanted * score
        slope = design.T @ (1 / (1 + np.exp(-score)) - wanted) / len(design)
        penalty = coefficients * np.array([0, 1, 1, 1])
        return float(each.mean() + RIDGE * penalty @ penalty / 2), slope + RIDGE * penalty

    found = minimize(loss, np.array(before.coefficients), jac=True, method="L-BFGS-B")
    a, b, c, d = (float(one) for one in found["x"])
    good = right & np.isfinite(error) & (std > 0)
    scale = before.std_scale
    if np.count_nonzero(good) >= 10:
        # The median ratio: single large errors do not decide it. 1.177 is the median of a Rayleigh distribution.
        scale *= float(np.median(error[good] / std[good])) / 1.177 * np.sqrt(2)
    return Calibration((a, b, c, d), scale, before.coarse_weight)


def reliability(confidence: Float, right: Bool, bins: int = BINS) -> list[tuple[float, float, int]]:
    """Mean confidence, share that is right, and count, for answers sorted into bins of confidence."""
    number = np.minimum((confidence * bins).astype(int), bins - 1)
    return [
        (float(confidence[number == one].mean()), float(right[number == one].mean()), int((number == one).sum()))
        for one in range(bins)
        if np.any(number == one)
    ]


def calibration_error(confidence: Float, right: Bool) -> float:
    """Expected calibration error: the mean distance of confidence from the share that is right."""
    rows = reliability(confidence, right)
    return float(sum(abs(said - was) * count for said, was, count in rows) / max(1, len(confidence)))
