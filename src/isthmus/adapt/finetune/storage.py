"""What methods that train the policy on have in common: who trains it, and the training as plain data."""

from typing import cast

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import Source
from isthmus.core import Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.policies import NetworkPolicy
from isthmus.policies.finetuner import Finetuner, Trained
from isthmus.policies.onnx import OnnxPolicy
from isthmus.policies.onnx_mlp import as_network

KIND = "trained-policy"
NETWORK, TRAINING = "network:", "training:"


def finetuner_of(source: Source, *, squashed: bool = True) -> tuple[NetworkPolicy, Finetuner]:
    """The source's policy, and who trains it on; a policy that cannot be trained is refused.

    A plain network in an ONNX file is trained on as one of ours. `squashed` says whether actions may be squashed.
    """
    policy = source.policy
    if isinstance(policy, OnnxPolicy):
        policy = as_network(policy, source.spec.action_low, source.spec.action_high)
    if not isinstance(policy, NetworkPolicy):
        raise Problem("this policy cannot be trained on: only one that is a plain network can")
    if policy.squash is not None and not squashed:
        raise Problem("this policy cannot be trained on here: only one whose outputs are actions can")
    if source.finetuner is None:
        raise Problem("this task does not say what its simulation pays, and a policy is trained for a reward")
    return policy, source.finetuner(policy)


def state_of(trained: Trained | None, studied: int = 0) -> MethodState:
    """A training, and how many episodes it has learned from already, as plain data."""
    if trained is None:
        raise ValueError("nothing was trained yet")
    arrays = {NETWORK + name: array for name, array in trained.network.arrays().items()}
    arrays |= {TRAINING + name: array for name, array in trained.arrays.items()}
    about = {"activation": trained.network.activation, "studied": studied}
    return MethodState(KIND, arrays | {"spread": trained.exploration_std}, about)


def training_of(state: MethodState) -> tuple[Trained, int]:
    """What `state_of` was given."""
    arrays, meta = state.arrays, state.about
    network, training = (
        {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}
        for part in (NETWORK, TRAINING)
    )
    try:
        made = Mlp.from_arrays(network, cast("Activation", meta["activation"]))
        return Trained(made, arrays["spread"], training), int(meta["studied"])
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise state.damaged(error) from error
