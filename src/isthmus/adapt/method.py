"""What a method is given, and what it gives back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from isthmus.adapt.common.cost_to_go import LinearCourses, cost_to_go, even_metric, linear_courses
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.reference import Reference
from isthmus.adapt.common.response import Response
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.core import AnyPolicy, Bool, Episode, Float, Int, Simulator, WorldSpec, stream
from isthmus.core.metric import Metric
from isthmus.policies import NetworkPolicy, TracedPolicy
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.policies.finetuner import Finetuner
from isthmus.sim import RobotModel
from isthmus.sim.anatomy import Joints, joints_of, unactuated_targets
from isthmus.sysid import Physics

COURSES, SETTLED = 6, 40
"""Of the policy's trajectory, for metrics that a rehearsal chooses among: how many, and steps until it is in its
gait."""
ACROSS = 0.02
"""Size of the differences there, in standard deviations: large enough to see a contact come and go."""


@dataclass(frozen=True)
class Rehearsal:
    """Policies tried in simulation, always from the same starts."""

    scores: Callable[[AnyPolicy, int, int], Float]
    """From a policy that looks at so many observations, its scores (n,) where the target is as it seems to be, in one
    of several parts with starts of their own."""
    source: Callable[[int], Float]
    """The scores of the source's policy in the source simulator, from the starts of a part (n,)."""
    zero: Callable[[int], Float]
    """Those of doing nothing."""
    finetuner: Callable[[NetworkPolicy], Finetuner] | None = None
    """Training in the same simulation, for a policy that may be changed."""


@dataclass(frozen=True)
class Perturbation:
    """What comes between a policy and the robot."""

    response: Response
    """What commands come to."""
    noise: Float
    """Of sensors: the standard deviation of each observation (obs,)."""


PerturbationIn = Callable[[Simulator | None], Perturbation]
"""From a simulator, or None for the source's, to the perturbation of the target in its terms."""


class Rehearse(Protocol):
    """Makes rehearsals of what was recorded on the target."""

    def __call__(
        self,
        episodes: Sequence[Episode],
        perturbation_in: PerturbationIn,
        z: Float | None,
        delay: int = 0,
        *,
        correct: bool = True,
        covariance: Float | None = None,
    ) -> Rehearsal:
        """Rehearsals where the target is as it seems to be.

        By target data, its perturbation, physical parameters if they are known, and the delay of the commands, which
        were recorded as on time; in the source simulator where that is not to be corrected. The `covariance` of the
        parameters says how much they leave open: a policy is trained over all of that.
        """
        ...


def _as_it_is(policy: AnyPolicy) -> AnyPolicy:
    return policy


@dataclass(frozen=True)
class SourceCost:
    """What the task costs in the source simulator, where all is known. The target's reward is another matter."""

    predict: Callable[[Float, Float, int], tuple[Float, Float, Float]]
    """From observations (n, obs) and actions (n, act) about as many robots as the number says, in a simulator whose
    actuators know no limits: what is seen next (n, obs), and what the cost is made of, before the step and after it,
    each (n, m)."""
    cost: Callable[[Float, Float, Float], Float]
    """From that before, actions and that after, what a step costs (n,)."""


@dataclass(frozen=True)
class SourceFacts:
    """What was worked out of a source before: whoever only acts has it from there, and rolls nothing out."""

    derived: Int
    """Observation dimensions that the simulator works out from the state."""
    cost_to_go: Metric | None = None
    """None where it is not known, as what follows: then it is worked out when it is asked for."""
    step_scale: Float | None = None


@dataclass(frozen=True)
class Source:
    """What is known of the source: a policy, the simulator it was made in, and the robot's names and limits."""

    policy: AnyPolicy
    """As it is."""
    simulator: Simulator
    unclamped: Simulator
    """The same simulator several times over, with actuators that know no limits."""
    spec: WorldSpec
    seed: int
    cost: SourceCost | None = None
    """The task's own, for methods that plan."""
    finetuner: Callable[[NetworkPolicy], Finetuner] | None = None
    """Training in the source simulator, for methods that change the policy."""
    robust: Callable[[], AnyPolicy] | None = None
    """The policy for the task that was trained under randomised dynamics; a Problem where there is none."""
    conditioned: Callable[[], ConditionedPolicy] | None = None
    """The policy for the task that is told physics; a Problem where there is none."""
    stand_in: Callable[[], NetworkPolicy] | None = None
    """The robust policy again, where it may take the place of this one: None where this is not the task's expert."""
    rehearsal: Rehearse | None = None
    """Rehearsals of policies in simulation."""
    robot_model: RobotModel | None = None
    """The simulator's model; None for a simulator that is not MuJoCo's. What follows needs it."""
    facts: SourceFacts | None = None
    """What is known of it already; None where all is to be worked out."""
    identified: Callable[[], Float | None] | None = None
    """Physical parameters that were identified beside the target's sensors, where an estimator does so."""
    reference: Reference | None = None
    """Recorded observations that are to be seen, where nobody recorded actions; `policy` then follows them."""

    @cached_property
    def joints(self) -> Joints | None:
        """Where the actuated joints are, for methods that drive each; None where actuators drive something else."""
        return None if self.robot_model is None else joints_of(self.robot_model)

    @cached_property
    def physics(self) -> Physics | None:
        """The simulator with physical parameters that can be changed, for methods that look for the target's."""
        return None if self.robot_model is None else Physics(self.robot_model)

    @cached_property
    def unactuated(self) -> Bool | None:
        """The targets (d,) that no actuator moves directly, such as where a walker's root is."""
        return None if self.robot_model is None else unactuated_targets(self.robot_model)

    @cached_property
    def sim_derived(self) -> Callable[[AnyPolicy], AnyPolicy]:
        """Makes a policy see what follows from the state as the simulator works it out."""
        if self.robot_model is None:
            return _as_it_is
        known = None if self.facts is None else self.facts.derived
        return sim_derived_policy(self.robot_model, self.policy, stream(self.seed, "shown"), known)

    @cached_property
    def pi_src(self) -> AnyPolicy:
        """pi_src: what the policy would do in the simulator, in the state that is seen."""
        return self.sim_derived(self.policy)

    @cached_property
    def cost_to_go(self) -> Metric:
        """By what an error costs to correct later, on the policy's trajectory in the simulator."""
        if self.facts is not None and self.facts.cost_to_go is not None:
            return self.facts.cost_to_go
        return cost_to_go(self.policy, self.unclamped, stream(self.seed, "cost-to-go"))

    @cached_property
    def courses(self) -> LinearCourses:
        """More of the policy's trajectory than `cost_to_go` looks at, in its gait, and smoothed across contacts."""
        rng = stream(self.seed, "courses")
        return linear_courses(self.policy, self.unclamped, rng, courses=COURSES, skip=SETTLED, nudge=ACROSS)

    @cached_property
    def step_scale(self) -> Float:
        """How much each target (d,) changes in a step when the policy acts in the simulator."""
        if self.facts is not None and self.facts.step_scale is not None:
            return self.facts.step_scale
        return even_metric(self.policy, self.unclamped, stream(self.seed, "spread")).scale


@dataclass(frozen=True)
class PredictedScore:
    """How well a candidate did in rehearsal, if 1 is the source's policy in its simulator and 0 is doing nothing."""

    score: float
    error: float
    """Its standard error."""
    episodes: int


@dataclass(frozen=True)
class FitReport:
    """How a round of learning went, for people to look at."""

    epochs: int
    best: int
    losses: tuple[tuple[float, float], ...] = ()
    """Training and held-out loss of every pass."""
    error: tuple[float, ...] = ()
    """Held-out action error of each actuator; none for methods that predict no actions."""
    action_std: tuple[float, ...] = ()
    """Standard deviation of each actuator's actions in the data, to compare the error with."""
    chosen: str = ""
    """What was taken of several candidates."""
    predicted_scores: Mapping[str, PredictedScore] = field(default_factory=dict[str, PredictedScore])
    """How each candidate did in rehearsal."""
    predicted: float | None = None
    """How the one did that was taken."""
    falls_short: bool | None = None
    """Whether even the best of them leaves too much of the loss; None where none were rehearsed."""


class Method(Protocol):
    """One way across. It never meets the target: it sees only what was recorded there."""

    @property
    def history(self) -> int:
        """How many observations its policy looks at."""
        ...

    @property
    def needs_target_data(self) -> bool:
        """Whether target data is of any use to it."""
        ...

    def policy(self) -> TracedPolicy:
        """What to run on the target now: to collect with, and to cross with."""
        ...

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Learn from all target data so far."""
        ...

    @property
    def kind(self) -> str:
        """The kind of its state."""
        ...

    def state(self) -> MethodState:
        """What was learned, as plain data."""
        ...

    def restore(self, state: MethodState) -> None:
        """Be as when that was the state."""
        ...


class UntrainedMethod:
    """What methods have in common that learn nothing from recorded target data."""

    history = 1
    needs_target_data = False
    kind = "nothing"

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """Nothing to learn."""
        raise NotImplementedError

    def state(self) -> MethodState:
        """Nothing was learned."""
        return MethodState(self.kind, {})

    def restore(self, state: MethodState) -> None:
        """Nothing to restore."""


@runtime_checkable
class Explorer(Method, Protocol):
    """A method that sees the reward: it explores by itself, and its episodes are `RewardedTrajectory`s."""

    def explorer(self, rng: np.random.Generator) -> TracedPolicy:
        """What to collect with instead."""
        ...


@runtime_checkable
class SelfExploring(Method, Protocol):
    """A method that has no source action to begin with, and so decides by itself how to explore."""

    def exploring(self, rng: np.random.Generator) -> TracedPolicy:
        """What to collect with instead of the policy."""
        ...

    @property
    def is_interrupted(self) -> bool:
        """Whether random actions are to interrupt it as well."""
        ...
