"""The methods there are, by name."""

from collections.abc import Callable
from dataclasses import dataclass

from isthmus.adapt.action_residual.method import ActionResidualMethod
from isthmus.adapt.auto.method import AutoMethod
from isthmus.adapt.baselines.pd import PdMethod
from isthmus.adapt.baselines.unadapted import RobustMethod, UnadaptedMethod
from isthmus.adapt.common.method_names import current_method
from isthmus.adapt.conditioned.method import ConditionedMethod
from isthmus.adapt.finetune.method import FinetuneMethod
from isthmus.adapt.finetune.on_target import RlOnTargetMethod
from isthmus.adapt.inverse_network.method import InverseMethod
from isthmus.adapt.method import Method, Source
from isthmus.adapt.model_inverse.method import ModelInverseMethod
from isthmus.adapt.mpc import PlanningMethod
from isthmus.adapt.mpc.gaussian_dynamics import GaussianDynamics
from isthmus.adapt.mpc.output_error import OutputError
from isthmus.adapt.preview.method import PreviewMethod
from isthmus.adapt.reference.method import ReferenceInverseMethod
from isthmus.adapt.reference.preview import ReferencePreviewMethod
from isthmus.adapt.settings import MethodSettings
from isthmus.core import unknown_name


@dataclass(frozen=True)
class MethodKind:
    """A method that can be made."""

    name: str
    summary: str
    sees: str
    """What it is allowed to learn from."""
    make: Callable[[Source, MethodSettings], Method]
    follows_policy: bool = True
    """Whether it carries the source's policy across; else it makes plans of its own."""
    collects: bool = True
    """Whether it learns from target samples before it is judged."""
    sees_reward: bool = False
    """Whether it is paid on the target, as no other method is."""
    slow: bool = False
    """Whether a control step takes so long that it may be judged over fewer episodes than others."""
    simulates: bool = False
    """Whether a control step takes many simulated ones: where those are dear, it may be judged over fewer, if not as
    few."""
    needs: tuple[str, ...] = ()
    """Packages of extras that it learns with; to act, nobody needs them."""
    least_round: int = 1
    """Samples that a round is worth at least: where learning takes a minute, not every few are."""


def _inverse(source: Source, settings: MethodSettings) -> Method:
    """The inverse network; what it is to reach comes from a reference where there is one, else from the simulator."""
    if source.reference is not None:
        return ReferenceInverseMethod(source, settings)
    return InverseMethod(source, settings, correction=False)


def _preview(source: Source, settings: MethodSettings) -> Method:
    """Look ahead; along a reference itself where there is one and positions are commanded, else along a simulation."""
    if source.reference is not None and source.spec.commands == "position":
        return ReferencePreviewMethod(source, settings)
    return PreviewMethod(source, settings)


TRAINS = ("torch", "stable_baselines3")
"""What a policy is trained on with."""
METHODS = {
    kind.name: kind
    for kind in (
        MethodKind(
            name="inverse",
            summary="the paper's inverse dynamics network gives the action that reaches the simulator's next state",
            sees="target observations and actions",
            make=_inverse,
            needs=("torch",),
        ),
        MethodKind(
            name="correction",
            summary="the paper's correction form: the network gives what to add to the source's action",
            sees="target observations and actions",
            make=lambda source, settings: InverseMethod(source, settings, correction=True),
            needs=("torch",),
        ),
        MethodKind(
            name="residual-action",
            summary="explains target steps in the simulator's terms, and commands what comes to the source's action",
            sees="target observations and actions",
            make=ActionResidualMethod,
            simulates=True,
        ),
        MethodKind(
            name="auto",
            summary="tries several in the simulator as target steps have put it right, and takes what does best there",
            sees="target observations and actions, and the source's reward in simulation",
            make=AutoMethod,
            simulates=True,
            least_round=500,
        ),
        MethodKind(
            name="preview",
            summary="learns how the robot answers over several steps, and looks ahead along the simulator's course",
            sees="target observations and actions",
            make=_preview,
        ),
        MethodKind(
            name="model-inverse",
            summary="fits the simulator's physical parameters to target steps, and inverts it for the action",
            sees="target observations and actions",
            make=lambda source, settings: ModelInverseMethod(source, settings.smoothness),
            simulates=True,
        ),
        MethodKind(
            name="pd",
            summary="drives each joint to the state that the simulator expects next, with tuned gains",
            sees="target observations and actions",
            make=lambda source, _settings: PdMethod(source),
        ),
        MethodKind(
            name="output-error",
            summary="plans with the simulator, whose latest errors are taken to go on; the policy is not asked",
            sees="target observations and actions as it runs, and the source's cost; no samples before",
            make=lambda source, _settings: PlanningMethod(source, OutputError),
            follows_policy=False,
            slow=True,
            collects=False,
        ),
        MethodKind(
            name="gaussian",
            summary="plans with a running Gaussian over the last transitions, led by the simulator; no policy",
            sees="target observations and actions as it runs, and the source's cost; no samples before",
            make=lambda source, _settings: PlanningMethod(source, GaussianDynamics),
            follows_policy=False,
            slow=True,
            collects=False,
        ),
        MethodKind(
            name="fine-tune",
            summary="learns the simulator's error, and trains the policy on in the corrected simulator",
            sees="target observations and actions, and the source's reward in simulation",
            make=lambda source, _settings: FinetuneMethod(source),
            needs=TRAINS,
            least_round=1000,
        ),
        MethodKind(
            name="robust",
            summary="a policy that was trained under randomised dynamics, as it is",
            sees="nothing of the target",
            make=lambda source, _settings: RobustMethod(source),
            follows_policy=False,
            collects=False,
        ),
        MethodKind(
            name="conditioned",
            summary="a policy that is told physics, told what is identified on the target; nothing is trained again",
            sees="target observations and actions",
            make=lambda source, _settings: ConditionedMethod(source),
            follows_policy=False,
        ),
        MethodKind(
            name="rl-on-target",
            summary="trains the policy on by reinforcement learning on the target itself",
            sees="THE TARGET'S REWARD, which no other method sees, with target observations and actions",
            make=lambda source, _settings: RlOnTargetMethod(source),
            sees_reward=True,
            needs=TRAINS,
            least_round=1000,
        ),
        MethodKind(
            name="unadapted",
            summary="the source's policy as it is",
            sees="nothing of the target",
            make=lambda source, _settings: UnadaptedMethod(source),
            collects=False,
        ),
    )
}


def make_method(name: str, source: Source, settings: MethodSettings) -> Method:
    """The method of that name, ready to learn."""
    name = current_method(name)
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name].make(source, settings)
