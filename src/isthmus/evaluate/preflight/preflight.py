"""Run a policy in its own simulator, and say what is wrong if it does not do what is expected of it.

First comes whether the robot is consistent in itself. Where it is and the policy disappoints, the usual mistakes are
undone one by one: a policy with flipped signs, swapped joints, a wrong scale, a missing normaliser or another rate does
well in its own simulator once that one mistake is undone.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import AnyPolicy, Float, Problem, rollout, stream
from isthmus.evaluate.evaluation import Evaluation, evaluate
from isthmus.evaluate.preflight.check import Check
from isthmus.evaluate.preflight.mistakes import NORMALISER, RATE, Mistake, mistakes, rates
from isthmus.evaluate.preflight.robot import consistency
from isthmus.evaluate.preflight.spec_mistakes import spec_mistakes
from isthmus.policies import ZeroPolicy
from isthmus.policies.observation import SpecPolicy
from isthmus.tasks import Task


@dataclass(frozen=True)
class Suspect:
    """One mistake, and the return once it is undone."""

    culprit: str
    """What would have been wrong."""
    remedy: str
    gym_return: float
    exact: bool = True
    """Whether undoing the mistake gives back the policy as it was made, or only something near it."""
    spec_edits: tuple[str, ...] = ()
    """The remedy as edits of the policy's observation spec, where it is one."""


RATE_DOUBT = 0.1
CLOSE = 0.05
"""Share of a claimed return that may be missing, beside two standard errors."""
POOR = 0.25
"""Share of the return of the expert that ships, above doing nothing, that any policy should come to."""
AT_ONCE = 0.1
"""Share of the longest possible episode that any policy should last."""
RESTORES, NEARS = 0.8, 0.5
"""Share of what is missing to the claimed return that undoing a mistake brings back: exactly, or about."""
SCREENED, SHORTLIST = 4, 12
"""Episodes by which the many mistakes with an observation spec are screened, and how many are then tried in full."""
SCREENED_STEPS = 200
"""Steps of those episodes at most: a policy that is shown what it knows is better from its first steps on."""


@dataclass(frozen=True)
class Preflight:
    """What a policy does in its own simulator, and what may be wrong with it."""

    gym_return: float
    std: float
    episodes: int
    full_length: float
    zero: float
    """Return of doing nothing."""
    saturated: float
    """Share of commands beyond the actuators' limits."""
    expected: float | None
    """What its author claims."""
    reference: float | None
    """What the expert that ships with the task does, where nothing is claimed."""
    checks: tuple[Check, ...]
    """All that was checked, the robot first."""
    suspects: tuple[Suspect, ...] = ()
    """The mistakes that were tried, the most promising first."""
    recorded: bool = False
    """Whether the policy's file says that it was trained with a normaliser that was not given."""

    @property
    def as_expected(self) -> bool:
        """Whether all is as it should be."""
        return all(check.passed for check in self.checks)

    @property
    def culprit(self) -> Suspect | None:
        """The one mistake that explains a policy that disappoints, if one does."""
        if self.as_expected or not self.suspects:
            return None
        best = self.suspects[0]
        missing = [one for one in self.suspects if one.culprit == NORMALISER]
        if self.recorded and missing and not (best.exact and self._restored(best)):
            return missing[0]
        return best if self._restored(best) else None

    def _restored(self, one: Suspect) -> bool:
        """Whether undoing the mistake brings back what is missing."""
        goal = self.reference if self.expected is None else self.expected
        share = RESTORES if one.exact and self.expected is not None else NEARS
        if goal is None:
            return one.gym_return > _noticeably(self.zero) and one.gym_return > _noticeably(self.gym_return)
        return one.gym_return - self.gym_return >= share * (goal - self.gym_return)


def preflight(
    task: Task,
    policy: AnyPolicy,
    *,
    bare: AnyPolicy | None,
    expected: float | None,
    episodes: int,
    seed: int,
    reference: float | None = None,
    recorded: bool = False,
) -> Preflight:
    """Check the robot, run `policy` in the source simulator, and undo the usual mistakes where it disappoints.

    `bare` is the policy if no normaliser was given with it; it is then tried with statistics that are gathered here.
    `expected` is the return its author claims, `reference` that of another policy on the same task.
    """

    def run(candidate: AnyPolicy, on: Task = task) -> Evaluation:
        return evaluate(on, on.source(episodes), candidate, 1, stream(seed, "check"))

    robot = consistency(task, policy)
    try:
        outcome, nothing = run(policy), run(ZeroPolicy(task.robot_model.spec.action_size))
    except Exception as error:
        failed = next((check for check in robot if not check.passed), None)
        reason = f"{failed.name}: {failed.measured}" if failed else f"{type(error).__name__}: {error}"
        raise Problem(f"{task.name} cannot be run ({' '.join(reason.split())})") from error
    horizon = task.robot_model.spec.horizon
    found = Preflight(
        gym_return=float(outcome.returns.mean()),
        std=float(outcome.returns.std()),
        episodes=episodes,
        full_length=float((outcome.lengths == horizon).mean()),
        zero=float(nothing.returns.mean()),
        saturated=_saturated(task, policy, episodes, seed),
        expected=expected,
        reference=reference,
        checks=robot,
        recorded=recorded and bare is not None,
    )
    found = replace(found, checks=(*robot, _episodes_last(outcome, nothing, horizon), _earns(found)))
    if found.as_expected or not all(check.passed for check in robot):
        return found
    tried: dict[str, Suspect] = {}
    for mistake in _possible(task, policy, bare, seed):
        suspect = _tried(task, mistake, run(mistake.policy, mistake.task))
        if suspect.remedy not in tried or suspect.gym_return > tried[suspect.remedy].gym_return:
            tried[suspect.remedy] = suspect
    best = max(one.gym_return for one in tried.values())

    def plausible(one: Suspect) -> float:
        # Returns at another rate compare only roughly.
        return one.gym_return - (RATE_DOUBT * abs(best - found.zero) if one.culprit == RATE else 0.0)

    return replace(found, suspects=tuple(sorted(tried.values(), key=plausible, reverse=True)))


def _tried(task: Task, mistake: Mistake, outcome: Evaluation) -> Suspect:
    """A mistake with the return once it is undone.

    An episode of the same time has fewer or more steps at another rate: each counts for as long as it takes.
    """
    longer = mistake.task.robot_model.frame_skip / task.robot_model.frame_skip
    earned = float(outcome.returns.mean()) * longer
    return Suspect(mistake.culprit, mistake.remedy, earned, mistake.exact, mistake.spec_edits)


def _possible(task: Task, policy: AnyPolicy, bare: AnyPolicy | None, seed: int) -> list[Mistake]:
    """The usual mistakes; of those with an observation spec, the ones whose undoing helps most in a few episodes."""
    if not isinstance(policy, SpecPolicy):
        return list(mistakes(task, policy, bare))
    model = task.robot_model
    short = replace(model.spec, horizon=min(model.spec.horizon, SCREENED_STEPS))
    world = replace(task, robot_model=replace(model, spec=short)).source(SCREENED)
    earned = list[tuple[float, Mistake]]()
    for one in spec_mistakes(policy):
        outcome = evaluate(task, world, one.policy, 1, stream(seed, "check", "screen"))
        mistake = Mistake(one.culprit, one.remedy, one.policy, task, spec_edits=one.edits)
        earned.append((float(outcome.returns.mean()), mistake))
    earned.sort(key=lambda pair: pair[0], reverse=True)
    return [mistake for _, mistake in earned[:SHORTLIST]] + list(rates(task, policy))


def _episodes_last(outcome: Evaluation, nothing: Evaluation, horizon: int) -> Check:
    """Whether episodes last; where a step costs more than it earns, an early end may well be the aim."""
    length, idle = float(outcome.lengths.mean()), float(nothing.lengths.mean())
    least = max(AT_ONCE * horizon, min(idle, horizon / 2))
    passed = length >= least or float(outcome.returns.mean()) <= 0
    measured = f"{length:.0f} of {horizon} steps on average, {idle:.0f} when doing nothing"
    return Check(
        "episodes last", passed, measured, "" if passed else "the policy falls at once, or `ended` is too strict"
    )


def _earns(found: Preflight) -> Check:
    """Whether the return is what is expected: what is claimed, or near the expert's, or more than doing nothing."""
    if found.expected is not None:
        doubt = 2 * found.std / np.sqrt(found.episodes)
        passed = bool(found.gym_return >= found.expected - doubt - CLOSE * abs(found.expected))
        name, than = "the return is as claimed", f"{found.expected:.1f} claimed"
    elif found.reference is not None:
        passed = found.gym_return - found.zero >= POOR * (found.reference - found.zero)
        name, than = f"the return is {POOR:.0%} of the expert's", f"{found.reference:.1f} of the expert that ships"
    else:
        passed = found.gym_return > _noticeably(found.zero)
        name, than = "the return is more than doing nothing's", f"{found.zero:.1f} when doing nothing"
    measured = f"{found.gym_return:.1f} against {than}"
    return Check(name, passed, measured, "" if passed else "see what was tried below")


def _noticeably(value: float) -> float:
    """A tenth more than `value`."""
    return value + 0.1 * abs(value)


def _saturated(task: Task, policy: AnyPolicy, episodes: int, seed: int) -> float:
    world, shares = task.source(episodes), list[Float]()
    for moment in rollout(world, policy, world.reset(stream(seed, "check")), steps=50, outlast=True):
        beyond = (moment.commands < world.spec.action_low) | (moment.commands > world.spec.action_high)
        shares.append(beyond.mean(axis=1))
    return float(np.mean(shares))
