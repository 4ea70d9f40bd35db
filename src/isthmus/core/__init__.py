"""The vocabulary everything else is written in: arrays, specs, histories, trajectories, protocols."""

from isthmus.core.arrays import Bool, Float, Float32, Int, Rows
from isthmus.core.errors import Lost, Problem, check_range, check_settings, unknown_name
from isthmus.core.history import History, HistoryBuffer
from isthmus.core.mlp import Mlp
from isthmus.core.overflow import keep_overflow
from isthmus.core.policy_state import PolicyWrapper, act, initial_state
from isthmus.core.protocols import (
    AnyPolicy,
    Correct,
    Estimator,
    InverseModel,
    Policy,
    PolicyState,
    Simulator,
    StatefulPolicy,
    World,
)
from isthmus.core.random import stream
from isthmus.core.rollout import Moment, rollout
from isthmus.core.spec import WorldSpec
from isthmus.core.step import Step
from isthmus.core.trajectory import Episode, Trajectory

__all__ = [
    "AnyPolicy",
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
    "Moment",
    "Policy",
    "PolicyState",
    "PolicyWrapper",
    "Problem",
    "Rows",
    "Simulator",
    "StatefulPolicy",
    "Step",
    "Trajectory",
    "World",
    "WorldSpec",
    "act",
    "check_range",
    "check_settings",
    "initial_state",
    "keep_overflow",
    "rollout",
    "stream",
    "unknown_name",
]
