"""A metric as plain data, in the state of a method or of a source."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isthmus.core import Int
from isthmus.core.metric import Metric


def metric_arrays(metric: Metric) -> dict[str, np.ndarray]:
    """The arrays of a metric; its price of effort belongs beside them."""
    return {"metric_scale": metric.scale, "metric_root": metric.root}


def stored_metric(arrays: Mapping[str, np.ndarray], about: Mapping[str, Any], targets: Int) -> Metric | None:
    """The metric that is among `arrays`, with its `effort` in `about`; None where there is none.

    Raises ValueError, KeyError or TypeError where it does not fit the robot's targets: it may come from a file.
    """
    if "metric_root" not in arrays:
        return None
    root, scale = (np.asarray(arrays[f"metric_{one}"], np.float64) for one in ("root", "scale"))
    d, effort = len(targets), float(about["effort"])
    fits = root.shape == (d, d) and scale.shape == (d,)
    if not fits or not (scale > 0).all() or not np.isfinite(root).all() or not 0 <= effort < np.inf:
        raise ValueError("its metric does not fit the robot")
    return Metric(targets, scale, root, effort)
