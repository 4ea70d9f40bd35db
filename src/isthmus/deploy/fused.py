"""A control step without a simulator, as numbers: what a graph or a C header can be made of.

x = clip(o[columns], low, high)                        what the network is shown
a_src = network(x)                                     perhaps squashed between the limits
w = clip(a_src)
a = w + h ((c(w) - w) G + clip(-f(o, w, past) W G))    where a response was learned; c is for noise at the limits
command = clip(keep_overflow(a_src, a))
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.action_residual.method import ActionResidualPolicy
from isthmus.adapt.auto.delay_compensation import DelayCompensatedPolicy
from isthmus.adapt.common.response import Response
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.preview.method import PreviewPolicy
from isthmus.adapt.reference.follow import FollowingPolicy
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Float, Mlp, WorldSpec
from isthmus.deploy.selection import Selection, selection_of
from isthmus.estimate.ensemble import EnsembleFilter
from isthmus.estimate.kalman import KalmanFilter
from isthmus.estimate.policy import EstimatedPolicy
from isthmus.policies import NetworkPolicy, Unadapted
from isthmus.policies.network import Squash
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.policies.view import whole


@dataclass(frozen=True)
class FusedStep:
    """All numbers of a control step."""

    spec: WorldSpec
    history: int
    selection: Selection
    network: Mlp
    squash: Squash | None = None
    response: Response | None = None

    @property
    def input_size(self) -> int:
        """Numbers that a step takes: `history` observations, oldest first, and the actions between them."""
        return self.history * self.spec.observation_size + (self.history - 1) * self.spec.action_size


@dataclass(frozen=True)
class Table:
    """The command for a wanted effect where noise comes before the limits: the best of some, by their cost.

    cost = squared - 2 wanted effect, one row an actuator. All in half ranges.
    """

    commands: Float  # (act, c)
    effect: Float  # (act, c)
    squared: Float  # (act, c)
    used: np.ndarray
    """Which actuators need it (act,)."""

    @staticmethod
    def of(response: Response) -> "Table | None":
        """The table of a response; None where noise does not come before the limits."""
        disturbance = response.disturbance
        if not disturbance.saturates or not (disturbance.std > 0).any():
            return None
        commands, effect, squared = disturbance.effects
        prior = disturbance.prior
        expected = (np.einsum("g,agc->ac", prior, one) for one in (effect, squared))
        return Table(commands, *expected, used=disturbance.std > 0)


def needs_simulator(policy: AnyPolicy) -> str:
    """Why a step of `policy` needs the simulator; empty where it does not."""
    if isinstance(policy, EstimatedPolicy):
        simulated = isinstance(policy.filter, KalmanFilter | EnsembleFilter)
        return "its estimator predicts in the simulator" if simulated else needs_simulator(policy.policy)
    if isinstance(policy, DelayCompensatedPolicy):
        return "commands take effect late, and a step simulates what those on their way will do"
    inner = policy.policy if isinstance(policy, Unadapted | FinetunedPolicy | ActionResidualPolicy) else policy
    if isinstance(inner, SimDerivedPolicy):
        return "its policy sees numbers that the simulator works out from the state"
    if isinstance(inner, ReferencePolicy):
        return "its policy inverts the simulator to follow the recorded observations"
    if isinstance(policy, ActionResidualPolicy):
        return "" if policy.observer.is_idle else "disturbances are estimated by simulating the last step"
    foresees = not isinstance(policy, Unadapted | FinetunedPolicy | FollowingPolicy)
    along_recording = isinstance(policy, PreviewPolicy) and not policy.simulates
    return "a step predicts in the simulator what is to be reached" if foresees and not along_recording else ""


def _asked(policy: AnyPolicy) -> AnyPolicy:
    """What gives the commands, before anything is made of them."""
    if isinstance(policy, FollowingPolicy) and policy.clone is not None:
        return NetworkPolicy(policy.clone, whole)
    return policy.policy if isinstance(policy, Unadapted | FinetunedPolicy | ActionResidualPolicy) else policy


def fused_step(policy: AnyPolicy, spec: WorldSpec, history: int) -> FusedStep | str:
    """The step of `policy` as numbers; the reason where it cannot be."""
    if why := needs_simulator(policy):
        return why
    if isinstance(policy, EstimatedPolicy):
        return "an estimator stands before its policy, and remembers more than a graph is given"
    asked = _asked(policy)
    if isinstance(asked, FollowingPolicy | PreviewPolicy):
        return "a step finds its place along the recorded observations"
    if not isinstance(asked, NetworkPolicy):
        return "the policy of the source is no network of Isthmus: a foreign ONNX file, or code of the robot"
    selection = selection_of(asked.see, spec.observation_size)
    if selection is None:
        return "the policy sees more than a choice of what is observed"
    response = policy.response if isinstance(policy, ActionResidualPolicy) else None
    return FusedStep(spec, history, selection, asked.network, asked.squash, response)
