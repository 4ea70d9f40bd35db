"""An estimator as plain data, and the filter that it comes to: nothing is simulated or trained to load it."""

from dataclasses import asdict, fields
from typing import Any

import numpy as np

from isthmus.core import Int, Mlp
from isthmus.estimate.course import Course
from isthmus.estimate.estimation import Estimation, network_of
from isthmus.estimate.filter import Filter
from isthmus.sim import RobotModel

ASKED = "asked"
"""Name of the estimator that was asked for, in the description."""


def whole(estimation: Estimation) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """All that the filter of an estimation is made from, as arrays and a description."""
    arrays, about = estimation.stored()
    course = estimation.course
    return arrays | asdict(course) | {"sensed": estimation.columns}, about | {ASKED: estimation.kind}


def filter_of(arrays: dict[str, np.ndarray], about: dict[str, Any], robot_model: RobotModel) -> Filter:
    """The filter that was described; a ValueError or KeyError where it does not fit the robot."""
    size = robot_model.spec.observation_size
    course = Course(**{one.name: np.asarray(arrays[one.name], np.float64) for one in fields(Course)})
    if not course.start.shape == course.scale.shape == course.most.shape == (size,):
        raise ValueError("where episodes begin does not fit the robot")
    if course.start_covariance.shape != (size, size):
        raise ValueError("where episodes begin does not fit the robot")
    if not all(np.isfinite(one).all() for one in asdict(course).values()):
        raise ValueError("where episodes begin is not finite")
    sensed = _sensed(np.asarray(arrays["sensed"], np.int64), size)

    def known() -> Mlp:
        network = network_of(arrays)
        if network is None:
            raise ValueError("there is no network")
        return network

    estimation = Estimation(str(about[ASKED]), robot_model, sensed, course, known)
    estimation.take(arrays, about)
    return estimation.filter


def _sensed(columns: Int, size: int) -> Int:
    inside = columns.ndim == 1 and len(columns) > 0 and columns[0] >= 0 and columns[-1] < size
    if not inside or (np.diff(columns) <= 0).any():
        raise ValueError("the sensors do not fit the robot")
    return columns
