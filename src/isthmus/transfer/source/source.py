"""What is known of the source, as methods see it."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from isthmus.adapt import Source, SourceCost
from isthmus.adapt.auto.perturbed_world import PerturbedWorld
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.adapt.method import Perturbation, PerturbationIn, Rehearsal, Rehearse, SourceFacts
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Episode, Float, Problem, stream
from isthmus.evaluate import Scorable, evaluate
from isthmus.experts import load_robust
from isthmus.policies import NetworkPolicy, ZeroPolicy
from isthmus.policies.finetuner import Finetuner
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.sysid.forward_model import fit_forward_model
from isthmus.tasks import Task

EPISODES = 8
"""In a part of a rehearsal."""
BETTER = 0.7
"""Share of the simulator's error that a fitted model may leave: one that explains less is worth nothing."""
MORE = 1.1
"""How many times as much may be unpredictable in it as in the source."""


def rehearsal_in(task: Task, expert: AnyPolicy, seed: int) -> Rehearse:
    """Rehearsals of a policy, scored as the task is in the source simulator; the target's reward is not seen."""

    @cache
    def source(part: int) -> Float:
        return at_home(expert, part)

    @cache
    def zero(part: int) -> Float:
        return at_home(ZeroPolicy(task.robot_model.spec.action_size), part)

    def at_home(policy: AnyPolicy, part: int) -> Float:
        return evaluate(task, task.source(EPISODES), policy, 1, stream(seed, "rehearsal", part)).scores

    @cache
    def derived_view() -> Callable[[Float], Float] | None:
        """The simulator-derived observation, for a policy that is trained without a wrapper for it."""
        derived = sim_derived_policy(task.robot_model, expert, stream(seed, "shown"))(expert)
        return derived.see if isinstance(derived, SimDerivedPolicy) else None

    def rehearsal(
        episodes: Sequence[Episode],
        perturbation_in: PerturbationIn,
        z: Float | None,
        delay: int = 0,
        *,
        correct: bool = True,
    ) -> Rehearsal:
        perturbation, world_of = perturbation_in(None), task.source
        forward = fit_forward_model(task.robot_model, episodes, z) if correct else None
        if forward and forward.fitted.model_error < BETTER * forward.fitted.simulator_error:
            # What a model explains is no disturbance in it; one in which more is unpredictable has explained nothing.
            left = perturbation_in(forward.unclamped_target().simulator)
            if _prediction_std(left) <= MORE * _prediction_std(perturbation):
                perturbation, world_of = left, forward.world

        def scores(policy: AnyPolicy, history: int, part: int) -> Float:
            world = world_of(EPISODES)
            perturbed = PerturbedWorld(world, perturbation, stream(seed, "rehearsal disturbance", part), delay)
            return evaluate(task, perturbed, policy, history, stream(seed, "rehearsal", part)).scores

        def perturbed_world(n: int) -> PerturbedWorld:
            return PerturbedWorld(
                world_of(n), perturbation, stream(seed, "practice disturbance", n), see=derived_view()
            )

        return Rehearsal(scores, source, zero, finetuner_among(task, perturbed_world))

    return rehearsal


def _prediction_std(perturbation: Perturbation) -> float:
    return float(perturbation.response.disturbance.prediction_std.sum())


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


def source_cost(task: Task) -> SourceCost:
    """What planners minimise: the score that results are reported in, turned round."""
    simulator = task.unclamped()

    def predict(observations: Float, actions: Float, robots: int) -> tuple[Float, Float, Float]:
        return (simulator.serial if robots == 1 else simulator).predict_with(observations, actions, task.measure)

    def cost(before: Float, actions: Float, after: Float) -> Float:
        return -task.score(before, actions, after)

    return SourceCost(predict, cost)


WORLDS = 16
"""Simulations side by side, where a method looks at many."""


def make_source(task: Task, policy: AnyPolicy, seed: int) -> Source:
    """What methods know of the task, the policy for it, and the simulator that it was made in."""
    followed = policy if isinstance(policy, ReferencePolicy) else None
    return Source(
        policy=policy,
        simulator=task.source(),
        unclamped=task.unclamped(WORLDS),
        spec=task.robot_model.spec,
        seed=seed,
        cost=source_cost(task),
        finetuner=finetuner_in(task),
        robust=robust_for(task),
        rehearsal=rehearsal_in(task, policy, seed),
        robot_model=task.robot_model,
        facts=None if followed is None else _facts(followed),
        reference=None if followed is None else followed.reference,
    )


def _facts(policy: ReferencePolicy) -> SourceFacts:
    """What the reference tells of itself, without a rollout."""
    return SourceFacts(derived=np.empty(0, np.int64), cost_to_go=policy.metric, step_scale=policy.metric.scale)
