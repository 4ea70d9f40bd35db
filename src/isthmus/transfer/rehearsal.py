"""Try a policy where the target is known: in the simulator, as the samples have put it right."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from isthmus.core import Bool, Episode, Float, Policy, Step, WorldSpec, stream
from isthmus.evaluate import evaluate
from isthmus.evaluate.ceiling.forward import fit_forward
from isthmus.methods.method import Rehearsal, Rehearse, Upset, UpsetIn
from isthmus.models.response import LARGEST
from isthmus.policies import ZeroPolicy
from isthmus.policies.shown import Shown
from isthmus.tasks import Task
from isthmus.tasks.shown import shown_in_simulation
from isthmus.transfer.practice import practice_among
from isthmus.worlds import CorrectedWorld, Delay, Fields, MujocoWorld, Noise

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
        forward = fit_forward(task, episodes, z) if correct else None
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


class UpsetWorld:
    """A world whose commands come to something else on their way, and perhaps late, and whose sensors are noisy."""

    def __init__(
        self,
        world: MujocoWorld | CorrectedWorld,
        upset: Upset,
        rng: np.random.Generator,
        late: int = 0,
        see: Callable[[Float], Float] | None = None,
    ) -> None:
        """Take over `world`; `rng` draws what upsets it, and observations (n, obs) are given as `see` has them."""
        self.spec: WorldSpec = world.spec
        self.n: int = world.n
        self.fields: Fields = world.fields
        self._world, self._response, self._noise, self._rng = world, upset.response, upset.noise, rng
        self._see = see
        disturbance, act = upset.response.disturbance, self.spec.action_size
        self._delay = Delay(self.n, act, late)
        self._disturbance = Noise(self.n, self.spec.half_range * disturbance.spread, disturbance.lasting)
        self._state = np.zeros((self.n, self.spec.observation_size))
        self._past = np.zeros((self.n, upset.response.lookback, act))

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Start new episodes, with new disturbances."""
        rows = slice(None) if which is None else which
        rest = np.zeros((self.n, self.spec.action_size))[rows]
        self._delay.begin(rest, self.fields, self._rng, rows)
        self._disturbance.begin(rest, self.fields, self._rng, rows)
        self._past[rows] = 0.0
        self._state = self._world.reset(rng, which).copy()
        return self._sensed(self._state)

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give commands (n, act); what arrives of them is disturbed."""
        accepted = self.spec.clip(commands)
        arrived = self._delay(commands if self._response.disturbance.cut else accepted, self.fields, slice(None))
        step = self._world.step(self._disturbance(self._answered(arrived), self.fields, slice(None)), which)
        self._state = step.observations.copy()
        return Step(self._sensed(step.observations), accepted, step.ended)

    def _answered(self, arrived: Float) -> Float:
        """What commands (n, act) come to, by the lines."""
        taken = self.spec.clip(arrived)
        errors = self._response.errors(self._state, taken, self._past.reshape(self.n, -1))
        self._past = np.concatenate((self._past, taken[:, None]), axis=1)[:, 1:]
        return arrived + self.spec.half_range * np.clip(errors, -LARGEST, LARGEST)

    def _sensed(self, observations: Float) -> Float:
        if self._noise.any():
            observations = observations + self._noise * self._rng.standard_normal(observations.shape)
        return self._see(observations) if self._see else observations
