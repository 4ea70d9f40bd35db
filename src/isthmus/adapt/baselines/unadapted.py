"""Policies that are not adapted: the expert as it is, and one that was trained under randomised dynamics."""

from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import Source, UntrainedMethod
from isthmus.core import Problem
from isthmus.policies import Unadapted


class UnadaptedMethod(UntrainedMethod):
    """The expert as it is: what there is to beat."""

    def __init__(self, source: Source) -> None:
        """Take the source's policy."""
        self._policy = Unadapted(source.policy, source.simulator)

    def policy(self) -> Unadapted:
        """The source's action."""
        return self._policy


class RobustMethod(UntrainedMethod):
    """A policy for any target: it was trained under randomised dynamics, and sees nothing of this one."""

    def __init__(self, source: Source) -> None:
        """Take the robust policy that comes with the task."""
        if source.robust is None:
            raise Problem("no robust policy comes with this task")
        self._policy = FinetunedPolicy(source.policy, source.simulator, source.robust())

    def policy(self) -> FinetunedPolicy:
        """The robust policy's action."""
        return self._policy
