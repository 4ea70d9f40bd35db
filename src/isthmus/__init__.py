"""Isthmus takes a robot policy that works in simulation across to the real robot, without retraining it."""

from isthmus.adapt import MethodSettings
from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.adapt.settings import CollectSettings, FitSettings
from isthmus.core import (
    History,
    HistoryBuffer,
    InverseModel,
    Policy,
    Problem,
    Simulator,
    StatefulPolicy,
    Trajectory,
    World,
    rollout,
    stream,
)
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import NetworkPolicy, TransferPolicy
from isthmus.robots import load_task
from isthmus.tasks import Task
from isthmus.transfer import Config, Controller, Result, RunFolder, load_adapted, run_transfer

__all__ = [
    "CollectSettings",
    "Config",
    "Controller",
    "FitSettings",
    "Gap",
    "History",
    "HistoryBuffer",
    "InverseModel",
    "InverseNetwork",
    "MethodSettings",
    "NetworkPolicy",
    "Policy",
    "Problem",
    "Result",
    "RunFolder",
    "Simulator",
    "StatefulPolicy",
    "Task",
    "Trajectory",
    "TransferPolicy",
    "World",
    "load_adapted",
    "load_expert",
    "load_task",
    "rollout",
    "run_transfer",
    "stream",
]
