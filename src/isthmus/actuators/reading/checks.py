"""What a log must pass before anything is fitted to it. Each fault is one sentence that says what would be right."""

import numpy as np

from isthmus.actuators.log import ActuatorLog
from isthmus.core import Float, Problem

FEWEST_SECONDS = 15.0
"""Motion that a fit and its test on other motion need at least, over all files."""
TURNS = 12.0
"""rad: joints that go further are taken for measured in degrees."""
STILL = 1e-6
DEGREES = 180 / np.pi
SHIFT = 3
"""Rows by which channels may be out of step and be noticed."""


def check_log(log: ActuatorLog) -> list[str]:
    """Refuse logs that are wrong or too short; returns what a reader should know about one that is not."""
    _check_length(log)
    _check_units(log)
    _check_moving(log)
    return [*_refresh_notes(log)]


def _check_length(log: ActuatorLog) -> None:
    if log.seconds < FEWEST_SECONDS:
        raise Problem(
            f"there are {log.seconds:.1f} s of motion, and a model that is fitted to so little cannot be tested on "
            f"other motion: record at least {FEWEST_SECONDS:g} s, better 2 to 4 minutes"
        )


def _check_units(log: ActuatorLog) -> None:
    for what, values in (("target", log.target), ("position", log.position)):
        if what == "target" and log.command != "position":
            continue
        most = float(np.abs(values).max())
        if most > TURNS:
            joint = log.joints[int(np.abs(values).max(axis=0).argmax())]
            raise Problem(
                f"the {what} of {joint} reaches {most:.3g}, which looks like degrees: say so with --angle deg, or with "
                'angle = "rad" in the mapping if the joint does turn that far'
            )
    ratio = _slope(np.concatenate([np.gradient(one.position, log.dt, axis=0) for one in log.segments()]), log.velocity)
    if ratio is None:
        return
    if ratio < 0:
        raise Problem("velocities have the opposite sign of the change of positions: correct one of them")
    for factor, which in (
        (DEGREES, "velocities are in degrees a second and positions in rad"),
        (1 / DEGREES, "positions are in degrees and velocities in rad/s"),
    ):
        if 0.7 < ratio / factor < 1.4:
            raise Problem(f"{which}: give both in the same unit")
    if not 0.5 < ratio < 2:
        raise Problem(
            f"velocities are {ratio:.2g} times the change of positions: the log is not at {1 / log.dt:.4g} Hz, or "
            "units differ; give its rate with --rate, or a time column"
        )


def _slope(change: Float, velocity: Float) -> float | None:
    """How many times the change of position the velocity is; None where they have nothing to do with each other."""
    x, y = change.ravel(), velocity.ravel()
    if x.std() < STILL or y.std() < STILL or abs(np.corrcoef(x, y)[0, 1]) < 0.5:
        return None
    # Both are noisy: the ratio of their sizes is not pulled towards zero as a regression is.
    return float(np.sign((x * y).sum()) * y.std() / x.std())


def _check_moving(log: ActuatorLog) -> None:
    for what, values in (("target", log.target), ("position", log.position), ("torque", log.torque)):
        if values is None:
            continue
        still = np.flatnonzero(np.ptp(values, axis=0) < STILL)
        if still.size:
            names = ", ".join(log.joints[joint] for joint in still)
            raise Problem(f"the {what} of {names} never changes: leave it out with --without, or record it again")


def _refresh_notes(log: ActuatorLog) -> list[str]:
    periods: dict[str, float] = {}
    for what, values in (("position", log.position), ("velocity", log.velocity), ("torque", log.torque)):
        if values is not None:
            periods[what] = refresh_period(values, log)
    return [
        f"the {what} is a new number only every {period:.1f} rows, at {1 / (period * log.dt):.0f} Hz: rows between are "
        "repetitions"
        for what, period in periods.items()
        if period > 1.3
    ]


def refresh_period(values: Float, log: ActuatorLog) -> float:
    """Rows between two new numbers of a channel, where the joints move faster than the channel resolves."""
    speed = np.abs(log.velocity)
    fast = speed > np.quantile(speed, 0.7, axis=0)
    new = np.diff(values, axis=0) != 0
    moving = fast[1:] & fast[:-1] & (log.age()[1:, None] > 0)
    share = new[moving].mean() if moving.any() else 1.0
    return float(1 / max(share, 1e-3))


def out_of_step(log: ActuatorLog) -> str | None:
    """Whether positions and torques refresh at different rows, in a log that holds repetitions; None when not."""
    if log.torque is None or refresh_period(log.position, log) < 1.5:
        return None
    new = [(np.diff(values, axis=0) != 0).any(axis=1) for values in (log.position, log.torque)]
    rows = np.flatnonzero(new[0])
    rows = rows[(rows > SHIFT) & (rows < len(new[1]) - SHIFT)]
    together = {shift: float(new[1][rows + shift].mean()) for shift in range(-SHIFT, SHIFT + 1)}
    best = max(together, key=lambda shift: (together[shift], -abs(shift)))
    return None if best == 0 else f"torques are new {abs(best)} rows {'after' if best > 0 else 'before'} positions are"
