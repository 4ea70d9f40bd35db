"""How long a study will still take, judged by the cells that are finished."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from isthmus.experiments.paper.case import Case, Cell


@dataclass(frozen=True)
class Estimate:
    """Time for what is left; cells of robots that have not finished any are not in it."""

    seconds: float
    unknown: tuple[str, ...]
    """Robots of which no cell is finished yet: nobody knows how long they take."""


def time_left(left: Sequence[Cell], seconds: Mapping[Cell, float], parallel: int) -> Estimate:
    """A cell takes as long as its case did from other seeds; if there are none, as other cells of its robot did."""
    by_case, by_robot = defaultdict[Case, list[float]](list), defaultdict[str, list[float]](list)
    for cell, took in seconds.items():
        by_case[cell.case].append(took)
        by_robot[cell.case.robot].append(took)
    total, unknown = 0.0, dict[str, None]()
    for cell in left:
        if alike := by_case[cell.case] or by_robot[cell.case.robot]:
            total += fmean(alike)
        else:
            unknown[cell.case.robot] = None
    return Estimate(total / min(parallel, max(len(left), 1)), tuple(unknown))
