"""Find the physics of the target, and the action that reaches the wanted state in a simulator that has it.

    z = argmin_z sum |o' - T_z(o, a)|^2 + |z|^2         physical parameters, from the target's own steps
    a = argmin_a |T_z(o, a) - o_want|                   o_want = T_src(o, a_src), a_src = pi_src(o)

What is not physics of the model (a delay, noise, backlash) has no parameter, and is met by the ones there are as well
as they can. What an underactuated robot cannot reach is missed where it is cheap to make up for, by the cost-to-go.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.metric_state import metric_arrays
from isthmus.adapt.method import FitReport, Source
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import AnyPolicy, Episode, Float, History, PolicyState, Problem, Simulator, act, keep_overflow
from isthmus.core.metric import Metric
from isthmus.core.statistics import PairedGain
from isthmus.policies import AdaptedPolicy, Decision, Unadapted
from isthmus.sysid import Transitions, holdout_split, identify

KIND = "physical-parameters"
ITERATIONS = 4
"""Of Gauss-Newton in a control step at most: near the limits one is not enough, elsewhere a second one seldom pays."""
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)
"""Of the way from the simulator's own physics to what was fitted."""
DOUBT = 2.0
"""Standard errors by which a share must do better in other episodes than the simulator's own physics."""
MOST_CHECKED = 200
"""Steps that the action error is estimated from."""


@dataclass(frozen=True)
class ModelInversePolicy(AdaptedPolicy):
    """The source's policy, with the actions that reach in the identified simulator what it wants."""

    policy: AnyPolicy
    simulator: Simulator
    inverse: OneStepInverse

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The action for n histories, and what it is meant to reach."""
        a_src, state = act(self.policy, history, state)
        o_want = self.simulator.predict(history, a_src)
        within = self.simulator.spec.clip(a_src)
        found = self.inverse(history.current, o_want, within)
        command = keep_overflow(a_src, found.actions, self.inverse.low, self.inverse.high)
        return Decision(a_src, o_want, command), state


@dataclass(frozen=True)
class _Trial:
    """Steps that were not fitted to, in a simulator.

    Good predictions alone are not enough: with noisy sensors the best ones are timid, as of a robot in treacle, and
    their inverse is wild. Nor are well determined actions: with noisy motors a robot without weight tells them best.
    """

    action_errors: Float
    """How far the actions that would explain the steps are from those applied (n, act)."""
    missed: Float
    """What is not predicted, in standard deviations (n, d)."""
    half_range: Float

    @property
    def costs(self) -> tuple[Float, Float]:
        """What either error comes to in each step, each (n,)."""
        return np.square(self.action_errors / self.half_range).mean(axis=1), np.square(self.missed).mean(axis=1)

    def gain(self, other: "_Trial") -> float:
        """How much better actions are predicted than by `other`; nothing where either may be for the worse."""
        gains = [PairedGain.of(theirs, ours, ddof=0) for ours, theirs in zip(self.costs, other.costs, strict=True)]
        return gains[0].mean if all(gain.exceeds(by=DOUBT) for gain in gains) else 0.0


class ModelInverseMethod:
    """The simulator's own physics, put right."""

    history = 1
    kind = KIND
    needs_target_data = True

    def __init__(self, source: Source, price: float = 0.0) -> None:
        """Start with the physics of the source; a change of the action has `price` times the regulator's price."""
        if source.physics is None:
            raise Problem("identification needs a simulator whose physical parameters can be changed")
        self._source, self._physics, self.price = source, source.physics, price
        self.metric: Metric | None = None
        """Which errors count, where it is not the cost-to-go."""
        self._z: Float | None = None
        self.covariance: Float | None = None
        """Of the parameters that fit best, as far as it is known (p, p)."""

    @property
    def followed(self) -> Float | None:
        """The physical parameters that are trusted for control; None before anything was learned."""
        return self._z

    @property
    def is_idle(self) -> bool:
        """Whether it has nothing to go by, and leaves the policy as it is."""
        return self._z is None or not self._z.any()

    @property
    def simulator(self) -> Simulator:
        """With the physics that is followed, and actuators that know no limits; the source's while there is none."""
        if self._z is None:
            return self._source.simulator
        return self._physics.simulator(self._physics.values(self._z))

    def in_metric(self, metric: Metric, _episodes: Sequence[Episode] = ()) -> "ModelInverseMethod":
        """The same physics, where other errors count."""
        other = copy(self)
        other.metric = metric
        return other

    def policy(self) -> ModelInversePolicy | Unadapted:
        """The adapted policy, once something is known of the target's physics."""
        policy, simulator, spec = self._source.pi_src, self._source.simulator, self._source.spec
        if self._z is None:
            return Unadapted(policy, simulator)
        metric = self.metric or self._source.cost_to_go
        inverse = OneStepInverse(
            self.simulator, spec.action_low, spec.action_high, metric, ITERATIONS, self.price * metric.effort
        )
        return ModelInversePolicy(policy, simulator, inverse)

    def learn(
        self,
        episodes: Sequence[Episode],
        round_number: int,  # noqa: ARG002
        progress: Callable[[int, float], None],  # noqa: ARG002
    ) -> FitReport:
        """Fit the parameters to everything so far, going on from those there are.

        Those that were identified beside the sensors are followed: what is left of noise in estimates says no more.
        """
        known = None if self._source.identified is None else self._source.identified()
        if known is not None:
            self._z = known
            return FitReport(0, 0)
        kept, apart = holdout_split(episodes)
        identified = identify(self._physics, Transitions.of(kept), self._source.spec.targets, self._z)
        z, self.covariance = identified.z, identified.covariance
        checked = Transitions.of(apart).thinned(MOST_CHECKED)
        trials = {share: self._try(share * z, checked) for share in SHARES}
        own = trials[0.0]
        best = max(SHARES, key=lambda share: (trials[share].gain(own), -share))
        self._z = best * z
        left, action_std = np.sqrt(np.square(trials[best].action_errors).mean(axis=0)), checked.actions.std(axis=0)
        return FitReport(0, 0, (), error=tuple(left.tolist()), action_std=tuple(action_std.tolist()))

    def state(self) -> MethodState:
        """The parameters as plain data."""
        if self._z is None:
            raise ValueError("nothing was identified yet")
        if self.metric is None:
            return MethodState(KIND, {"z": self._z})
        return MethodState(KIND, {"z": self._z} | metric_arrays(self.metric), {"effort": self.metric.effort})

    def restore(self, state: MethodState) -> None:
        """Take over parameters."""
        z = np.asarray(state.arrays.get("z"), dtype=np.float64)
        if z.shape != (self._physics.size,) or not np.isfinite(z).all():
            raise state.foreign()
        self._z, self.metric = z, state.metric(self._source.spec.targets)

    def _try(self, z: Float, steps: Transitions) -> "_Trial":
        """See what steps that were not fitted to are in the simulator of z."""
        simulator, metric = self._physics.simulator(self._physics.values(z)), self._source.cost_to_go
        missed = metric.scaled(steps.after - simulator.predict(History.of(steps.before), steps.actions))
        found = EffectiveActionEstimator(simulator, metric)(steps.before, steps.after, steps.actions, iterations=1)
        return _Trial(found.actions - steps.actions, missed, simulator.spec.half_range)
