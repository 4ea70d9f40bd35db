"""Try a policy where the target is known: in the simulator, as the samples have put it right."""

from collections.abc import Callable, Sequence
from functools import cache

from isthmus.adapt.auto.perturbed_world import PerturbedWorld
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.adapt.method import Perturbation, PerturbationIn, Rehearsal, Rehearse
from isthmus.core import AnyPolicy, Episode, Float, stream
from isthmus.evaluate import evaluate
from isthmus.policies import ZeroPolicy
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.sysid.forward_model import fit_forward_model
from isthmus.tasks import Task
from isthmus.transfer.source.finetuner import finetuner_among

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
        """How a policy is shown what it sees, for one that is trained without that about it."""
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
