"""Try a policy where the target is known: in the simulator, as the samples have put it right."""

from collections.abc import Callable, Sequence
from functools import cache

from isthmus.adapt.auto.perturbed_world import UpsetWorld
from isthmus.adapt.method import Rehearsal, Rehearse, Upset, UpsetIn
from isthmus.core import Episode, Float, Policy, stream
from isthmus.evaluate import evaluate
from isthmus.policies import ZeroPolicy
from isthmus.policies.sim_derived import Shown
from isthmus.sysid.forward_model import fit_forward
from isthmus.tasks import Task
from isthmus.tasks.sim_derived import shown_in_simulation
from isthmus.transfer.source.finetuner import practice_among

EPISODES = 8
"""In a part of a rehearsal."""
BETTER = 0.7
"""Share of the simulator's error that a fitted model may leave: one that explains less is worth nothing."""
MORE = 1.1
"""How many times as much may be unforeseen in it as in the source."""


def rehearsal_in(task: Task, expert: Policy, seed: int) -> Rehearse:
    """Rehearsals of a policy, scored as the task is in the source simulator; the target's reward is not seen."""

    @cache
    def source(part: int) -> Float:
        return at_home(expert, part)

    @cache
    def zero(part: int) -> Float:
        return at_home(ZeroPolicy(task.embodiment.spec.action_size), part)

    def at_home(policy: Policy, part: int) -> Float:
        return evaluate(task, task.source(EPISODES), policy, 1, stream(seed, "rehearsal", part)).scores

    @cache
    def shown() -> Callable[[Float], Float] | None:
        """How a policy is shown what it sees, for one that is trained without that about it."""
        asked = shown_in_simulation(task, expert, stream(seed, "shown"))(expert)
        return asked.see if isinstance(asked, Shown) else None

    def rehearsal(
        episodes: Sequence[Episode], upset_in: UpsetIn, z: Float | None, late: int = 0, *, correct: bool = True
    ) -> Rehearsal:
        upset, world_of = upset_in(None), task.source
        forward = fit_forward(task.embodiment, episodes, z) if correct else None
        if forward and forward.fitted.model_error < BETTER * forward.fitted.simulator_error:
            # What a model explains is no disturbance in it; one in which more is unforeseen has explained nothing.
            left = upset_in(forward.open_target().simulator)
            if _unforeseen(left) <= MORE * _unforeseen(upset):
                upset, world_of = left, forward.world

        def scores(policy: Policy, history: int, part: int) -> Float:
            world = world_of(EPISODES)
            upset_world = UpsetWorld(world, upset, stream(seed, "rehearsal disturbance", part), late)
            return evaluate(task, upset_world, policy, history, stream(seed, "rehearsal", part)).scores

        def practised_in(n: int) -> UpsetWorld:
            return UpsetWorld(world_of(n), upset, stream(seed, "practice disturbance", n), see=shown())

        return Rehearsal(scores, source, zero, practice_among(task, practised_in))

    return rehearsal


def _unforeseen(upset: Upset) -> float:
    return float(upset.response.disturbance.unforeseen.sum())
