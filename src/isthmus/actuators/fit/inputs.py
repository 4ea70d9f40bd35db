"""From a log to what models are fitted on: lagged errors and velocities of every joint, and the torque they led to."""

from typing import Any

import numpy as np

from isthmus.actuators.contract import Contract, unlimited
from isthmus.actuators.log import ActuatorLog
from isthmus.core import Bool, Float, Float32, Problem

MARGIN = 1.25
"""Torque limits of a model that was given none: the largest torque in its data, times this."""


def lagged(log: ActuatorLog, lags: tuple[int, ...]) -> tuple[Float32, Bool]:
    """Inputs (T, J, 2 k), errors before velocities and newest first; and the rows (T,) with all their history.

    Where a history would reach across the start of a segment, it is filled with the segment's first sample.
    """
    age, rows = log.age(), np.arange(len(log))
    parts = [values[rows - np.minimum(lag, age)] for values in (log.error, log.velocity) for lag in lags]
    return np.stack(parts, axis=-1).astype(np.float32), age >= lags[-1]


def measured(log: ActuatorLog) -> Float:
    """The torque of a log (T, J), which must have one."""
    if log.torque is None:
        raise Problem("this log has no measured torque: fit it by replay, with the robot's model")
    return log.torque


def contract_for(
    log: ActuatorLog,
    lags: tuple[int, ...],
    torque: Float,
    effort_limit: Float | None = None,
    **provenance: Any,  # noqa: ANN401
) -> Contract:
    """The terms of a model that is fitted to `log`, whose joints gave `torque` (T, J)."""
    error, velocity = log.error, log.velocity
    seen = np.stack([np.stack((values.min(axis=0), values.max(axis=0)), axis=-1) for values in (error, velocity)], 1)
    most = np.maximum(MARGIN * np.abs(torque).max(axis=0), 1e-6) if effort_limit is None else effort_limit
    return Contract(
        joints=log.joints,
        dt=log.dt,
        lags=lags,
        torque_scale=max(float(torque.std()), 1e-9),
        effort_limit=most,
        saturation=unlimited(len(log.joints)),
        speed_limit=unlimited(len(log.joints)),
        seen=seen,
        command=log.command,
        provenance={"seconds": round(log.seconds, 3), "motions": len(log.names), **provenance},
    )
