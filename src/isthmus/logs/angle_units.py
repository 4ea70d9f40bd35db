"""In which unit columns of joint positions are: by their names, by whole numbers, and by how far joints can turn."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float
from isthmus.logs.robot_body import RobotBody
from isthmus.logs.roles import Cell
from isthmus.logs.series import Log

DEGREE = float(np.pi / 180)
TICKS = (1024, 4096, 16384, 65536)
"""Ticks a turn that encoders have."""
TICK_WORDS = re.compile(r"tick|count|raw|enc", re.IGNORECASE)
NAMED = ((re.compile(r"mrad", re.IGNORECASE), 1e-3), (re.compile(r"(^|[^a-z])deg", re.IGNORECASE), DEGREE))
FREELY = 4 * np.pi
"""rad that joints without limits are taken to turn at most in a log."""
BEYOND = 1.15
"""Times the widest range of the joints that columns in radians may span."""
SMALL = 3.5
"""Columns of a series in degrees that span less may be radians; in both cases their joint moves."""
MILLI = 720.0
"""Columns that span more are no degrees."""


@dataclass(frozen=True)
class AngleUnits:
    """Scales of columns, and how they were found."""

    scales: Float
    """(C,) rad in one unit of each column."""
    open: NDArray[np.bool_]
    """(C,) whether it may as well be degrees where it is radians, or the other way."""
    reason: str


def angle_units(log: Log, cells: Sequence[Cell], body: RobotBody) -> AngleUnits:
    """The units of position columns, which are usually those of all columns of a series."""
    if not body.hinges.any():
        return AngleUnits(np.ones(len(cells)), np.zeros(len(cells), np.bool_), "all joints are slides")
    spans = np.array([_span(log[cell.series].values[:, cell.column]) for cell in cells])
    scales, unsure, reasons = np.ones(len(cells)), np.zeros(len(cells), np.bool_), list[str]()
    for series in dict.fromkeys(cell.series for cell in cells):
        inside = [number for number, cell in enumerate(cells) if cell.series == series]
        if len(inside) == 1 and len(cells) > 1:  # columns that stand alone are alike
            inside = [number for number, cell in enumerate(cells) if len(log[cell.series].labels) == 1]
        values = log[series].values
        named = " ".join([series, *(cells[number].label for number in inside)])
        scale, open_, reason = _series_unit(named, values[np.isfinite(values)], spans[inside], body)
        scales[inside], unsure[inside] = scale, open_
        reasons.append(reason)
    return AngleUnits(scales, unsure, "; ".join(dict.fromkeys(reasons)))


def _span(values: Float) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(np.quantile(known, (0.001, 0.999)))) if len(known) else 0.0


def _series_unit(name: str, values: Float, spans: Float, body: RobotBody) -> tuple[float, NDArray[np.bool_], str]:
    """Scale, which columns may be in another unit, and the reason."""
    sure = np.zeros(len(spans), np.bool_)
    for pattern, scale in NAMED:
        if pattern.search(name):
            return scale, sure, f"{'degrees' if scale == DEGREE else 'milliradians'} by its name"
    widest = float(spans.max(initial=0.0))
    whole = bool(len(values)) and float(np.mean(np.asarray(values == np.round(values)))) > 0.99
    if widest > 50 and whole and (widest > MILLI or TICK_WORDS.search(name)):
        turn = next((ticks for ticks in TICKS if float(np.abs(values).max()) < ticks), TICKS[-1])
        return 2 * np.pi / turn, ~sure, f"ticks of {turn} a turn, since they are whole numbers up to {values.max():.0f}"
    reach = (body.high - body.low)[body.hinges]
    limit = BEYOND * float(reach.max()) + 0.1 if np.isfinite(reach).all() else FREELY
    if widest > limit:
        if widest > MILLI:
            return 1e-3, ~sure, f"milliradians, since they span {widest:.0f}"
        limited = reach[np.isfinite(reach)]
        too_wide = int(np.sum(spans > BEYOND * float(limited.max(initial=0.0)) + 0.1)) if len(limited) else 0
        # Where more columns are that wide than joints turn freely, one of a joint with limits is.
        freely = too_wide <= len(reach) - len(limited) and widest < 10 * FREELY
        return (
            DEGREE,
            (spans < SMALL) | freely,
            f"degrees, since they span {widest:.3g}, further than joints turn in rad",
        )
    return 1.0, sure, f"radians, since they span {widest:.2g} at most"
