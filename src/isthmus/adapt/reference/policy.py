"""Follow a reference in a simulator: the action that brings the next recorded observation about.

    p = nearest phase        o_want = reference[p + 1]        a = argmin_a |T(o, a) - o_want|

This is a policy like any other, and methods carry it across a gap as they do a network.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.adapt.common.cost_to_go import ROLLOUT_STEPS, ROLLOUTS, cost_to_go_along
from isthmus.adapt.common.reference import FOUND_NOWHERE, Phases, Reference
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import Float, History, PolicyState, Simulator, WorldSpec
from isthmus.core.metric import Metric

PHASE = "reference_phase"
ITERATIONS = 3
"""Of Gauss-Newton in a control step, from a first guess. HalfCheetah follows its gait to 0.91 of the expert's score
with 3, and to 0.85 with 2; from the action of the step before, it comes to 0.83 with 3."""
LABEL_ITERATIONS = 6
"""The same for the recorded steps."""


@dataclass(frozen=True)
class ReferencePolicy:
    """Acts as the reference would have to be acted, by a simulator of the robot."""

    reference: Reference
    phases: Phases
    inverse: OneStepInverse

    @property
    def metric(self) -> Metric:
        """What it costs to miss a wanted observation."""
        return self.inverse.metric

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode: nobody knows where along the reference they are."""
        return {PHASE: np.full(n, FOUND_NOWHERE, np.int64)}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories, and the state for the next step."""
        now = history.current
        phase = self.phases.find(now, state[PHASE])
        wanted = self.phases.wanted(now, phase)
        start = first_guess(self.inverse.simulator.spec, wanted)
        return self.inverse(now, wanted, start).actions, {PHASE: phase}


def reference_policy(reference: Reference, simulator: Simulator, spec: WorldSpec) -> ReferencePolicy:
    """The policy that follows `reference` in `simulator`, whose actuators know no limits."""
    return follower(reference, simulator, spec, reference_metric(reference, simulator, spec))


def follower(reference: Reference, simulator: Simulator, spec: WorldSpec, metric: Metric) -> ReferencePolicy:
    """The same where it is known already what errors cost."""
    inverse = OneStepInverse(simulator, spec.action_low, spec.action_high, metric, ITERATIONS)
    return ReferencePolicy(reference, Phases(reference, spec), inverse)


def reference_metric(reference: Reference, simulator: Simulator, spec: WorldSpec) -> Metric:
    """What errors cost to correct later, along the reference as the simulator explains it."""
    even = reference.even_metric(spec)
    courses = [
        (track[:-1], actions_of(track[:-1], track[1:], simulator, spec, even))
        for track in (one[: ROLLOUT_STEPS + 1] for one in reference.tracks[:ROLLOUTS])
    ]
    return cost_to_go_along(simulator, courses, even)


def actions_of(before: Float, after: Float, simulator: Simulator, spec: WorldSpec, metric: Metric) -> Float:
    """The actions (m, act) that lead in the simulator from observations `before` to `after`, each (m, obs)."""
    inverse = OneStepInverse(simulator, spec.action_low, spec.action_high, metric, LABEL_ITERATIONS)
    return inverse(before, after, first_guess(spec, after)).actions


def first_guess(spec: WorldSpec, wanted: Float) -> Float:
    """Commands (n, act) before anything is known: the wanted positions where those are commanded, else the middle."""
    if spec.commands == "position" and set(spec.action_names) <= set(spec.observation_names):
        return wanted[:, [spec.observation_names.index(name) for name in spec.action_names]]
    return np.tile(spec.middle, (len(wanted), 1))
