"""A policy that was trained for many robots, in the place of the source's: nothing of it is learned on the target."""

from typing import cast

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import Source, UntrainedMethod
from isthmus.core import Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.policies import NetworkPolicy


class StandInMethod(UntrainedMethod):
    """The robust policy that ships with the task, as a candidate; what is kept of it is its network."""

    kind = "stand-in"

    def __init__(self, source: Source) -> None:
        """Take the policy when it is asked for: what is restored needs none."""
        self._source = source
        self._robust: NetworkPolicy | None = None

    def policy(self) -> FinetunedPolicy:
        """Its action, beside the source's."""
        source = self._source
        return FinetunedPolicy(source.policy, source.simulator, self._found)

    @property
    def _found(self) -> NetworkPolicy:
        if self._robust is None:
            if self._source.stand_in is None:
                raise Problem("no robust policy comes with this task")
            self._robust = self._source.stand_in()
        return self._robust

    def state(self) -> MethodState:
        """The network."""
        network = self._found.network
        return MethodState(self.kind, network.arrays(), {"activation": network.activation})

    def restore(self, state: MethodState) -> None:
        """Take over a network, which sees what the source's policy does."""
        try:
            network = Mlp.from_arrays(state.arrays, cast("Activation", state.about["activation"]))
        except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
            raise state.damaged(error) from error
        if not isinstance(self._source.policy, NetworkPolicy):
            raise state.foreign()
        self._robust = NetworkPolicy(network, self._source.policy.see)
