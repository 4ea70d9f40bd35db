"""What methods that change the policy are given: training in the source simulator, and a robust policy."""

from collections.abc import Callable

from isthmus.core import AnyPolicy, Problem
from isthmus.evaluate import Scorable
from isthmus.experts import load_robust
from isthmus.policies import NetworkPolicy
from isthmus.policies.finetuner import Finetuner
from isthmus.tasks import Task


def finetuner_in(task: Task) -> Callable[[NetworkPolicy], Finetuner]:
    """Training of a policy in the task's source simulator."""
    return finetuner_among(task, task.source)


def finetuner_among(task: Task, worlds: Callable[[int], Scorable]) -> Callable[[NetworkPolicy], Finetuner]:
    """Training of a policy in n simulations; SB3 is needed only by who asks for it."""

    def finetuner(policy: NetworkPolicy) -> Finetuner:
        try:
            from isthmus.experts.finetuner import PpoFinetuner  # noqa: PLC0415 - torch and SB3 only where they are used
        except ModuleNotFoundError as error:
            raise Problem(
                "this method trains the policy on, which needs Stable-Baselines3: pip install 'isthmus[train]'"
            ) from error
        return PpoFinetuner(task, policy, worlds=worlds)

    return finetuner


def robust_for(task: Task) -> Callable[[], AnyPolicy]:
    """The task's robust policy, read only for who asks for it."""
    return lambda: load_robust(task)
