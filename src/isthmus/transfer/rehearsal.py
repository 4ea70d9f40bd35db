"""Try a policy where the target is known: in the simulator, as the samples have put it right."""

from collections.abc import Callable, Sequence

import numpy as np

from isthmus.core import Bool, Episode, Float, Policy, Step, WorldSpec, stream
from isthmus.evaluate import evaluate
from isthmus.evaluate.ceiling.forward import fit_forward
from isthmus.methods.method import Rehearsal
from isthmus.models.disturbance import Disturbance
from isthmus.tasks import Task
from isthmus.worlds import CorrectedWorld, Fields, MujocoWorld

EPISODES = 16
BETTER = 0.7
"""Share of the simulator's error that a fitted model may leave: one that explains less is worth nothing."""


def rehearsal_in(task: Task, expert: Policy, seed: int) -> Callable[[Sequence[Episode], Disturbance], Rehearsal]:
    """Rehearsals of a policy, scored as the task is in the source simulator; the target's reward is not seen."""

    def rehearsal(episodes: Sequence[Episode], disturbance: Disturbance) -> Rehearsal:
        forward = fit_forward(task, episodes)
        explains = forward.fitted.model_error < BETTER * forward.fitted.simulator_error

        def scores(policy: Policy, history: int) -> Float:
            world = forward.world(EPISODES) if explains else task.source(EPISODES)
            disturbed = DisturbedWorld(world, disturbance, stream(seed, "rehearsal disturbance"))
            return evaluate(task, disturbed, policy, history, stream(seed, "rehearsal")).scores

        source = evaluate(task, task.source(EPISODES), expert, 1, stream(seed, "rehearsal"))
        return Rehearsal(scores, source.score)

    return rehearsal


class DisturbedWorld:
    """A world whose commands are disturbed on their way."""

    def __init__(self, world: MujocoWorld | CorrectedWorld, disturbance: Disturbance, rng: np.random.Generator) -> None:
        """Take over `world`; `rng` draws the disturbances."""
        self._world, self._like, self._rng = world, disturbance, rng
        self._now = self._drawn()

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._world.spec

    @property
    def n(self) -> int:
        """How many there are."""
        return self._world.n

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for scores."""
        return self._world.fields

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start new episodes, with new disturbances."""
        self._now = self._drawn() if which is None else np.where(which[:, None], self._drawn(), self._now)
        return self._world.reset(rng, which)

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act); what arrives of them is disturbed."""
        spec, like = self.spec, self._like
        given = commands if like.cut else spec.clip(commands)
        step = self._world.step(given + spec.half_range * self._now, which)
        self._now = like.lasting * self._now + np.sqrt(1 - np.square(like.lasting)) * self._drawn()
        return Step(step.observations, spec.clip(commands), step.ended)

    def _drawn(self) -> Float:
        return self._like.spread * self._rng.standard_normal((self.n, len(self._like.spread)))
