"""Several localisers on the same pictures, such as those of several training seeds: means and spread of figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isthmus.experiments.vision.page import CONDITIONS

Figures = Mapping[str, Any]
COLUMNS = ("", "n ", "localisers ", "median cm ", "mean cm ", "right ", "sure ")


def over_localisers(figures: Sequence[Figures]) -> dict[str, Any]:
    """For every number that all of them have: mean, standard deviation, least and most."""
    first, *others = figures
    found: dict[str, Any] = {}
    for name, value in first.items():
        every = [value, *(one[name] for one in others if name in one)]
        if len(every) < len(figures):
            continue
        if all(isinstance(one, Mapping) for one in every):
            found[name] = over_localisers(every)
        elif all(isinstance(one, int | float) for one in every):
            numbers = np.array(every, float)
            std = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
            found[name] = {
                "mean": float(numbers.mean()),
                "std": std,
                "least": float(numbers.min()),
                "most": float(numbers.max()),
            }
    return found


def rows_over(summary: Figures, count: int) -> list[tuple[str, ...]]:
    """A row for each condition, under `COLUMNS`."""
    return [
        (
            name,
            f"{summary[name]['n']['mean']:.0f}",
            str(count),
            *(_text(summary[name][figure]) for figure in ("median_cm", "mean_cm", "right", "sure")),
        )
        for name in CONDITIONS
        if name in summary
    ]


def _text(figure: Figures) -> str:
    return f"{figure['mean']:.2f} ± {figure['std']:.2f}"
