"""Find out what is wrong with a policy before it costs days: try the usual mistakes, and see which one explains it.

A policy with flipped signs, swapped joints, a wrong scale, a missing normaliser, another layout or another rate does
badly in its own simulator, and does well there once that one mistake is undone. So each is undone in turn.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from isthmus.core import Float, History, Policy, stream
from isthmus.evaluate.evaluation import evaluate
from isthmus.policies import ZeroPolicy
from isthmus.tasks import Task

SCALES = (0.1, 0.25, 0.5, 2.0, 4.0, 10.0)
RATES = (0.5, 2.0, 4.0)
COURSES = 4
RATE_DOUBT = 0.1
CLOSE = 0.05
"""Share of a claimed return that may be missing, beside two standard errors."""
CONVINCING = 0.35
"""Share of what is missing to the claimed return that undoing a mistake must bring back."""


@dataclass(frozen=True)
class Suspect:
    """One mistake, undone."""

    culprit: str
    """What would have been wrong."""
    remedy: str
    gym_return: float


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
    suspects: tuple[Suspect, ...]
    """The mistakes that were tried, the most promising first."""

    @property
    def as_expected(self) -> bool:
        """Whether it does what its author claims, or at least something, when nothing is claimed."""
        if self.expected is None:
            return self.gym_return > self.zero + abs(self.zero) * 0.1
        doubt = 2 * self.std / np.sqrt(self.episodes)
        return bool(self.gym_return >= self.expected - doubt - CLOSE * abs(self.expected))

    @property
    def culprit(self) -> Suspect | None:
        """The mistake that explains it, if one does."""
        if self.as_expected or not self.suspects:
            return None
        best = self.suspects[0]
        goal = best.gym_return if self.expected is None else max(self.expected, best.gym_return)
        floor = min(self.gym_return, self.zero) if self.expected is None else self.gym_return
        return best if best.gym_return - self.gym_return > CONVINCING * (goal - floor) else None


@dataclass(frozen=True)
class _Mended:
    """A policy with one mistake undone."""

    policy: Policy
    before: Callable[[Float], Float]
    after: Callable[[Float], Float]

    def __call__(self, history: History) -> Float:
        seen = History(self.before(history.observations), history.actions)
        return self.after(self.policy(seen))


def _same(values: Float) -> Float:
    return values


def preflight(
    task: Task, policy: Policy, *, bare: Policy | None, expected: float | None, episodes: int, seed: int
) -> Preflight:
    """Run `policy` in the source simulator; where it disappoints, undo the usual mistakes one by one.

    `bare` takes raw observations when `policy` has no normaliser: it is then tried with statistics of its own course.
    """

    def score(candidate: Policy, on: Task = task) -> tuple[Float, Float]:
        outcome = evaluate(on, on.source(episodes), candidate, 1, stream(seed, "check"))
        return outcome.returns, outcome.lengths == on.embodiment.spec.horizon

    returns, whole = score(policy)
    zero = float(score(ZeroPolicy(task.embodiment.spec.action_size))[0].mean())
    found = Preflight(
        gym_return=float(returns.mean()),
        std=float(returns.std()),
        episodes=episodes,
        full_length=float(whole.mean()),
        zero=zero,
        saturated=_saturated(task, policy, episodes, seed),
        expected=expected,
        suspects=(),
    )
    if found.as_expected:
        return found
    frame_skip = task.embodiment.frame_skip
    suspects = [
        # An episode of the same time has fewer or more steps at another rate: count each for as long as it takes.
        Suspect(culprit, remedy, float(score(mended, on)[0].mean()) * on.embodiment.frame_skip / frame_skip)
        for culprit, remedy, mended, on in _mistakes(task, policy, bare)
    ]
    best = max(one.gym_return for one in suspects)

    def plausible(one: Suspect) -> float:
        # Returns at another rate compare only roughly.
        return one.gym_return - (RATE_DOUBT * abs(best - found.zero) if one.culprit == "rate" else 0.0)

    return replace(found, suspects=tuple(sorted(suspects, key=plausible, reverse=True)))


def _mistakes(task: Task, policy: Policy, bare: Policy | None) -> Iterator[tuple[str, str, Policy, Task]]:
    """Each usual mistake with its remedy, the policy with it undone, and the task to run it on."""
    spec = task.embodiment.spec
    names = spec.action_names
    for signs in _signs(len(names)):
        flipped = [name for name, sign in zip(names, signs, strict=True) if sign < 0]
        yield (
            "sign",
            f"flip the sign of {', '.join(flipped)}",
            _Mended(policy, _same, lambda actions, signs=signs: actions * signs),
            task,
        )
    for order in _orders(len(names)):
        said = ", ".join(names[i] for i in order)
        yield "joint order", f"actions are in the order {said}", _Mended(policy, _same, _reorder(order)), task
    for scale in SCALES:
        yield (
            "action scale",
            f"multiply actions by {scale:g}",
            _Mended(policy, _same, lambda actions, scale=scale: actions * scale),
            task,
        )
    if bare is not None:
        remedy = "give the VecNormalize statistics it was trained with (--normaliser)"
        yield "missing normaliser", remedy, _self_normalised(task, bare), task
    for rate in RATES:
        frames = task.embodiment.frame_skip * rate
        if frames >= 1 and frames == int(frames):
            period = spec.control_period * rate
            timed = replace(spec, control_period=period, horizon=max(int(spec.horizon / rate), 1))
            body = replace(task.embodiment, frame_skip=int(frames), spec=timed)
            yield "rate", f"it was trained at {1 / period:g} Hz", policy, replace(task, embodiment=body)


def _signs(size: int) -> list[Float]:
    """All flipped, and each one alone."""
    return [-np.ones(size), *(1 - 2 * np.eye(size)[i] for i in range(size if size > 1 else 0))]


def _orders(size: int) -> list[Sequence[int]]:
    """Reversed, halves swapped (left and right), and every pair swapped."""
    orders: list[Sequence[int]] = [tuple(reversed(range(size)))]
    if size % 2 == 0:
        half = size // 2
        orders.append((*range(half, size), *range(half)))
    for i, j in combinations(range(size), 2):
        swapped = list(range(size))
        swapped[i], swapped[j] = j, i
        orders.append(tuple(swapped))
    return list(dict.fromkeys(tuple(order) for order in orders if tuple(order) != tuple(range(size))))


def _reorder(order: Sequence[int]) -> Callable[[Float], Float]:
    columns = list(order)
    return lambda actions: actions[:, columns]


def _self_normalised(task: Task, policy: Policy) -> Policy:
    """The policy with statistics of its own course, found by running it with those of the course before."""
    mended = policy
    for _ in range(COURSES):
        world, rng = task.source(32), stream(0, "check", "statistics")
        seen = [world.reset(rng)]
        for _ in range(100):
            commands = mended(History.of(seen[-1])) + 0.2 * world.spec.half_range * rng.standard_normal((32, 1))
            step = world.step(commands)
            seen.append(world.reset(rng, step.ended) if step.ended.any() else step.observations)
        every = np.concatenate(seen)
        mean, spread = every.mean(axis=0), every.std(axis=0)
        mended = _Mended(policy, _standardise(mean, np.where(spread > 1e-6, spread, 1.0)), _same)
    return mended


def _standardise(mean: Float, spread: Float) -> Callable[[Float], Float]:
    return lambda seen: np.clip((seen - mean) / spread, -10, 10)


def _saturated(task: Task, policy: Policy, episodes: int, seed: int) -> float:
    world = task.source(episodes)
    history = History.of(world.reset(stream(seed, "check")))
    shares: list[float] = []
    for _ in range(50):
        commands = policy(history)
        beyond = (commands < world.spec.action_low) | (commands > world.spec.action_high)
        shares.append(float(beyond.mean()))
        history = History.of(world.step(commands).observations)
    return float(np.mean(shares))
