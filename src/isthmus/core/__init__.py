"""The vocabulary everything else is written in: arrays, specs, histories, trajectories, protocols."""

from isthmus.core.arrays import Bool, Float, Float32, Int, Rows
from isthmus.core.errors import Lost, Problem, check_range, check_settings, unknown_name
from isthmus.core.history import History, HistoryBuffer
from isthmus.core.mlp import Mlp
from isthmus.core.overflow import keep_overflow
from isthmus.core.protocols import Correct, Estimator, InverseModel, Policy, Simulator, World
from isthmus.core.random import stream
from isthmus.core.spec import WorldSpec
from isthmus.core.step import Step
from isthmus.core.trajectory import Episode, Trajectory

__all__ = [
    "Bool",
    "Correct",
    "Episode",
    "Estimator",
    "Float",
    "Float32",
    "History",
    "HistoryBuffer",
    "Int",
    "InverseModel",
    "Lost",
    "Mlp",
    "Policy",
    "Problem",
    "Rows",
    "Simulator",
    "Step",
    "Trajectory",
    "World",
    "WorldSpec",
    "check_range",
    "check_settings",
    "keep_overflow",
    "stream",
    "unknown_name",
]
