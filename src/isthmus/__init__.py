"""Isthmus takes a robot policy that works in simulation across to the real robot, without retraining it.

What is named here is imported when it is first used: a robot's computer has no need for all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from isthmus.deploy import DeployedPolicy, load_policy
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
    "DeployedPolicy",
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
    "load_policy",
    "load_task",
    "rollout",
    "run_transfer",
    "stream",
]
PLACES = {
    "adapt": ("MethodSettings",),
    "adapt.inverse_network": ("InverseNetwork",),
    "adapt.settings": ("CollectSettings", "FitSettings"),
    "deploy": ("DeployedPolicy", "load_policy"),
    "experts": ("load_expert",),
    "gaps": ("Gap",),
    "policies": ("NetworkPolicy", "TransferPolicy"),
    "robots": ("load_task",),
    "tasks": ("Task",),
    "transfer": ("Config", "Controller", "Result", "RunFolder", "load_adapted", "run_transfer"),
}
"""Which package each of the names is from, but for those of `core`."""
_PLACE_OF = {name: place for place, names in PLACES.items() for name in names}
_PACKAGES = (
    *("actuators", "adapt", "bench", "cli", "core", "deploy", "evaluate", "experiments", "experts", "firmware", "gaps"),
    *("hardware", "io", "logs", "policies", "report", "robots", "sim", "sysid", "tasks", "transfer"),
)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import what is asked for."""
    if name in _PACKAGES:
        return import_module(f"isthmus.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'isthmus' has no attribute {name!r}")
    return getattr(import_module(f"isthmus.{_PLACE_OF.get(name, 'core')}"), name)


def __dir__() -> list[str]:
    """What there is."""
    return [*__all__]
