"""What is known of the source, as methods see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from isthmus.adapt import Source, SourceCost
from isthmus.adapt.auto.perturbed_world import PerturbedWorld
from isthmus.adapt.auto.replay import MOST, can_replay, replay_errors, surely_nearer
from isthmus.adapt.auto.selection import SURELY
from isthmus.adapt.common.sim_derived import sim_derived_policy
from isthmus.adapt.method import Perturbation, PerturbationIn, Rehearsal, Rehearse, SourceFacts
from isthmus.adapt.reference.policy import ReferencePolicy
from isthmus.core import AnyPolicy, Episode, Float, Problem, Simulator, Trajectory, stream
from isthmus.core.loss import noticeable_loss
from isthmus.core.statistics import PairedGain
from isthmus.estimate.estimation import Estimation
from isthmus.estimate.rehearsed import NoisyStage, Sensing
from isthmus.evaluate import Scorable, evaluate
from isthmus.experts import conditioned_path, load_conditioned, load_expert, load_robust, robust_path
from isthmus.policies import NetworkPolicy, ZeroPolicy
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.policies.finetuner import Finetuner
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.sim import CorrectedWorld, MujocoWorld
from isthmus.sysid.forward_model import ForwardModel, fit_forward_model
from isthmus.tasks import Task

EPISODES = 8
"""In a part of a rehearsal."""
BETTER = 0.7
"""Share of the simulator's error that a fitted model may leave: one that explains less is worth nothing."""
LOOKED_AT = 200
"""Recorded steps in which the effect of a disturbance is looked at."""
MORE = 1.1
"""How many times as much may be unpredictable in it as in the source."""


def rehearsal_in(task: Task, expert: AnyPolicy, seed: int, estimation: Estimation | None = None) -> Rehearse:
    """Rehearsals of a policy, scored as the task is in the source simulator; the target's reward is not seen.

    With an `estimation` policies are shown what its filter makes of sensors as noisy as it takes them for. Where they
    are shown enough without, there is no filter.
    """

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
        covariance: Float | None = None,
    ) -> Rehearsal:
        sensing = None if estimation is None else estimation.sensing
        if not correct:
            known = _as_it_is(task, perturbation_in)
        else:
            if sensing is not None:
                candidates = _as_sensed(task, episodes, perturbation_in, sensing)
            else:
                candidates = _as_it_seems(task, episodes, perturbation_in, z, _Uncertainty(covariance, seed))
            runs = () if delay else tuple(episode[0] for episode in episodes[-MOST:])
            known = _as_it_moves(task, expert, runs, candidates, seed)
        stand = _Stand(task, seed, known, delay, sensing)
        if estimation is not None and estimation.may_do_without and sensing is not None:
            plain = replace(stand, sensing=replace(sensing, filter=sensing.shown))
            raw, filtered = (one.scores(expert, 1, 0) for one in (plain, stand))
            if _is_enough(raw, filtered, source(0), zero(0)):
                stand = plain
            estimation.use(stand is not plain)
        return Rehearsal(stand.scores, source, zero, finetuner_among(task, partial(stand.practice, derived_view)))

    return rehearsal


Worlds = Callable[[int], MujocoWorld | CorrectedWorld]


@dataclass(frozen=True)
class _Known:
    """What is known of the target."""

    perturbation: Perturbation
    world_of: Worlds
    """n simulations of it."""
    practised_in: Worlds
    """n simulations of it as it may well be, to train in."""


@dataclass(frozen=True)
class _Uncertainty:
    """How much the samples leave open of the physics."""

    covariance: Float | None
    """Of its parameters; None where that is not known."""
    seed: int

    def around(self, forward: ForwardModel) -> Worlds:
        """N robots as the target may well be."""
        covariance = self.covariance
        if covariance is None:
            return forward.world
        return lambda n: forward.drawn(n, covariance, stream(self.seed, "posterior", n))


def _as_it_is(task: Task, perturbation_in: PerturbationIn) -> _Known:
    """The source simulator, and the target's perturbation in its terms."""
    return _Known(perturbation_in(None), task.source, task.source)


def _as_it_seems(
    task: Task, episodes: Sequence[Episode], perturbation_in: PerturbationIn, z: Float | None, unsure: _Uncertainty
) -> tuple[_Known, ...]:
    """What is known of the target by corrected simulations, where they explain much more, and by the source itself."""
    plain = _as_it_is(task, perturbation_in)
    forward = fit_forward_model(task.robot_model, episodes, z)
    if forward and forward.fitted.model_error < BETTER * forward.fitted.simulator_error:
        # What a model explains is no disturbance in it; one in which more is unpredictable has explained nothing.
        left = perturbation_in(forward.unclamped_target().simulator)
        if _prediction_std(left) <= MORE * _prediction_std(plain.perturbation):
            return _Known(left, forward.world, unsure.around(forward)), plain
    return (plain,)


def _as_it_moves(
    task: Task, policy: AnyPolicy, runs: Sequence[Trajectory], known: Sequence[_Known], seed: int
) -> _Known:
    """The first of what is known, unless the last surely moves more as the target did, when its runs are replayed."""
    if len(known) == 1 or not can_replay(runs):
        return known[0]
    errors = [
        replay_errors(
            PerturbedWorld(one.world_of(len(runs)), one.perturbation, stream(seed, "replay disturbance")),
            policy,
            runs,
            task.robot_model.spec.targets,
        )
        for one in known
    ]
    return known[-1] if surely_nearer(errors[-1], errors[0], SURELY) else known[0]


def _as_sensed(
    task: Task, episodes: Sequence[Episode], perturbation_in: PerturbationIn, sensing: Sensing
) -> tuple[_Known, _Known]:
    """The physics that innovations show, and those of the source.

    Both without noise of sensors, or disturbances for which innovations leave no room.
    """
    runs = [one for episode in episodes for one in episode]
    before = np.concatenate([one.observations[:-1] for one in runs])
    applied = np.concatenate([one.applied for one in runs])
    steps = np.unique(np.linspace(0, len(applied) - 1, LOOKED_AT).astype(int))
    most = sensing.largest_disturbance(before[steps], applied[steps])

    def world(n: int) -> MujocoWorld:
        return MujocoWorld(task.robot_model, n, models=sensing.model)

    def known(simulator: Simulator | None, world_of: Worlds) -> _Known:
        found = perturbation_in(simulator)
        disturbance = replace(found.response.disturbance, std=np.minimum(found.response.disturbance.std, most))
        response = replace(found.response, disturbance=disturbance)
        return _Known(Perturbation(response, np.zeros_like(found.noise)), world_of, world_of)

    return known(sensing.kalman.simulator, world), known(None, task.source)


def _is_enough(raw: Float, filtered: Float, source: Float, zero: Float) -> bool:
    """Whether a policy does well on noisy sensors as they are, by scores (n,) with them and behind a filter."""
    lost = PairedGain.of(source, raw, ddof=0).mean
    noticed = noticeable_loss(float(source.mean()), float(source.std()), float(zero.mean()))
    return lost <= noticed or PairedGain.of(raw, filtered, ddof=0).exceeds(by=SURELY)


@dataclass(frozen=True)
class _Stand:
    """Simulations in which the target is as it seems to be."""

    task: Task
    seed: int
    known: _Known
    delay: int
    sensing: Sensing | None

    def scores(self, policy: AnyPolicy, history: int, part: int) -> Float:
        """Of a policy (n,), in one part of a rehearsal."""
        world, rng = self.known.world_of(EPISODES), stream(self.seed, "rehearsal disturbance", part)
        stage = self._stage(EPISODES, stream(self.seed, "rehearsal sensors", part))
        perturbed = PerturbedWorld(world, self.known.perturbation, rng, self.delay, estimator=stage)
        return evaluate(self.task, perturbed, policy, history, stream(self.seed, "rehearsal", part)).scores

    def practice(self, view: Callable[[], Callable[[Float], Float] | None], n: int) -> PerturbedWorld:
        """Where a policy that may be changed is trained on, in n simulations."""
        rng, stage = (
            stream(self.seed, "practice disturbance", n),
            self._stage(n, stream(self.seed, "practice sensors", n)),
        )
        return PerturbedWorld(self.known.practised_in(n), self.known.perturbation, rng, see=view(), estimator=stage)

    def _stage(self, n: int, rng: np.random.Generator) -> NoisyStage | None:
        return None if self.sensing is None else self.sensing.stage(n, rng)


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


def conditioned_for(task: Task, policy: AnyPolicy) -> Callable[[], ConditionedPolicy] | None:
    """The task's policy that is told physics; None where there is none, or where the expert is not the policy."""
    there = conditioned_path(task.name).exists() and _is_expert(task, policy)
    return partial(load_conditioned, task) if there else None


def stand_in_for(task: Task, policy: AnyPolicy) -> Callable[[], NetworkPolicy] | None:
    """The task's robust policy; None where there is none, or where the expert is not the policy."""
    there = robust_path(task.name).exists() and _is_expert(task, policy)
    return partial(load_robust, task) if there else None


def _is_expert(task: Task, policy: AnyPolicy) -> bool:
    """Whether the policy is the one that ships with the task."""
    if not isinstance(policy, NetworkPolicy) or policy.squash is not None:
        return False
    ours, experts = policy.network.arrays(), load_expert(task).network.arrays()
    return ours.keys() == experts.keys() and all(np.array_equal(ours[name], experts[name]) for name in ours)


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
        conditioned=conditioned_for(task, policy),
        stand_in=stand_in_for(task, policy),
        rehearsal=rehearsal_in(task, policy, seed),
        robot_model=task.robot_model,
        facts=None if followed is None else _facts(followed),
        reference=None if followed is None else followed.reference,
    )


def _facts(policy: ReferencePolicy) -> SourceFacts:
    """What the reference tells of itself, without a rollout."""
    return SourceFacts(derived=np.empty(0, np.int64), cost_to_go=policy.metric, step_scale=policy.metric.scale)
