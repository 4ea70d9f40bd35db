"""Isthmus takes a robot policy that works in simulation across to the real robot, without retraining it."""

from isthmus.collection import CollectSettings
from isthmus.core import History, HistoryBuffer, InverseModel, Policy, Problem, Simulator, Trajectory, World, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.methods import MethodSettings
from isthmus.models import FitSettings, InverseNetwork
from isthmus.policies import NetworkPolicy, TransferPolicy
from isthmus.tasks import Task, load_task
from isthmus.transfer import Config, Result, RunFolder, cross

__all__ = [
    "CollectSettings",
    "Config",
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
    "Task",
    "Trajectory",
    "TransferPolicy",
    "World",
    "cross",
    "load_expert",
    "load_task",
    "stream",
]
