"""The policies that come with Isthmus, each beside a JSON that says how it was made."""

from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.io import read_json
from isthmus.policies import NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy, read_conditioned
from isthmus.policies.network import read_network
from isthmus.robots import TASKS
from isthmus.tasks import Task

WEIGHTS = Path(__file__).parent / "weights"


def expert_path(task_name: str) -> Path:
    """Where the expert of a task is."""
    return WEIGHTS / f"{task_name}.npz"


def load_expert(task: Task) -> NetworkPolicy:
    """The expert that ships with `task`."""
    path = expert_path(task.name)
    if not path.exists():
        raise Problem(
            f"no expert ships with task {task.name!r}: bring a policy with --policy FILE, {_or_make_one(task, '')}"
        )
    return NetworkPolicy(read_network(path), task.view.see)


def shipped_policy(name: str) -> Path | None:
    """The file of a policy that ships besides the experts, such as `anymal-blind`; None where there is none."""
    path = WEIGHTS / f"{name}.onnx"
    return path if name == path.stem and path.is_file() else None


def robust_path(task_name: str) -> Path:
    """Where the policy of a task is that was trained under randomised dynamics."""
    return expert_path(f"{task_name}-robust")


def load_robust(task: Task) -> NetworkPolicy:
    """The robust policy that ships with `task`."""
    path = robust_path(task.name)
    if not path.exists():
        raise Problem(
            f"no robust policy ships with task {task.name!r}: bring one with --policy FILE, "
            f"{_or_make_one(task, ' --randomise mass=0.8:1.25,...')}"
        )
    return NetworkPolicy(read_network(path), task.view.see)


def conditioned_path(task_name: str) -> Path:
    """Where the policy of a task is that is told physics."""
    return expert_path(f"{task_name}-conditioned")


def load_conditioned(task: Task) -> ConditionedPolicy:
    """The policy that ships with `task` and is told physics."""
    path = conditioned_path(task.name)
    if not path.exists():
        options = " --conditioned --randomise mass=0.8:1.25,..."
        raise Problem(f"no conditioned policy ships with task {task.name!r}: {_or_make_one(task, options)[3:]}")
    return read_conditioned(path, task.view.see)


def _or_make_one(task: Task, options: str) -> str:
    """What to do where there is no policy; of a task in a file, only its name is known here."""
    if task.name in TASKS:
        return f"or train one with `isthmus policy train {task.name}{options}`"
    return f"let make_task() give its Task a `policy`, or train one with `isthmus policy train FILE.py{options}`"


def provenance(path: Path) -> dict[str, Any]:
    """How the expert at `path` was made."""
    return read_json(path.with_suffix(".json"))


def recorded_return(path: Path) -> float | None:
    """The mean return on the task's reward that the provenance beside a policy records; None where there is none."""
    if path.suffix != ".npz" or not path.with_suffix(".json").is_file():
        return None
    try:
        return float(provenance(path)["evaluation"]["gym_return"]["mean"])
    except (Problem, KeyError, TypeError, ValueError):
        return None
