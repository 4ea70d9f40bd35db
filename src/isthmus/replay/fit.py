"""Fit a model's parameters to open-loop replays of a recording.

    z = argmin_z  sum_td w_td ((q_td - replay_z(t)_d) / s_d)^2 / (sigma_d^2 tau) + |z|^2

Replays begin where the robot was and run on by themselves. s is how far joints go, sigma how well each is replayed in
the end, w takes weight from single moments that are off by much more than most, as after a fall that no model foresees,
and tau is over how many samples errors are one and the same. What the recording does not tell stays as the model has
it: z is 0 there, with the uncertainty it had before. Short replays come first: they are nearly linear in what is
looked for, where long ones of a robot that falls over are not.

Levenberg and Marquardt's method. All perturbed simulations run side by side, and joints that do not move each other, as
those of different legs, are perturbed together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int
from isthmus.replay.errors import foretellable
from isthmus.replay.parameters import EVERYWHERE, Parameter
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.simulate import replay
from isthmus.replay.windows import Windows, fits, windows

HORIZONS = (0.1, 0.3, 1.0)
"""Seconds of the replays that are fitted one after the other."""
WINDOWS = (80, 40, 24)
"""Replays of each length, at most."""
LOOKED, QUICK = (30, 14), 6
"""Replays of the first and the last length for a quick look, and iterations of it."""
SAMPLES = 40
"""Samples of a replay that count, at most, evenly spread."""
INDEPENDENT = 4.0
"""Errors in a replay that tell something new, each of a joint: neighbouring samples are off alike."""
FEWEST = 3
"""Replays that a fit needs; where fewer can be foretold, all are taken."""
ITERATIONS = 10
ENOUGH = 2e-3
"""An iteration that takes less than this share of the cost away is the last."""
NUDGE = 0.02
"""Finite differences, in z."""
LONGEST = 1.5
"""Of a step in z."""
OUTLYING = 3.0
"""Errors count less from so many sigma on."""
SHARPEST = 1e-3
"""No joint is replayed better than this share of how far it goes."""
TO_DEVIATION = 1.4826
"""From the median absolute value of a Gaussian to its standard deviation."""
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Fitted:
    """Parameters, and how well the recording tells them."""

    free: tuple[Parameter, ...]
    z: Float  # (k,)
    covariance: Float
    """Of z, given the recording; it would be 1 without any (k, k)."""

    @property
    def values(self) -> dict[str, float]:
        """The values by the parameters' names."""
        return {one.name: float(one.value(np.asarray(z))) for one, z in zip(self.free, self.z, strict=True)}

    @property
    def determined(self) -> Float:
        """(k,): the share of each parameter's prior uncertainty that the recording has removed."""
        return np.clip(1 - np.diag(self.covariance), 0.0, 1.0)


@dataclass(frozen=True)
class Lesson:
    """Replays of one length that parameters are fitted to, and how long they are looked for."""

    where: Windows
    iterations: int = ITERATIONS


def lessons(rig: Rig, recording: Recording) -> list[Lesson]:
    """Short replays first, then longer ones: those whose course does not hang on what no sensor sees."""
    usable = [(seconds, count) for seconds, count in zip(HORIZONS, WINDOWS, strict=True) if fits(recording, seconds)]
    return [
        Lesson(_foretold(rig, recording, windows(recording, seconds, 0.5), count))
        for seconds, count in usable or [(_longest(recording), WINDOWS[0])]
    ]


def quick(given: Sequence[Lesson]) -> list[Lesson]:
    """The same for a look: the first and the last, with fewer replays."""
    chosen = [given[0], given[-1]] if len(given) > 1 else list(given)
    return [Lesson(one.where.thinned(count), QUICK) for one, count in zip(chosen, LOOKED, strict=False)]


def fit(
    rig: Rig,
    recording: Recording,
    free: Sequence[Parameter],
    course: Sequence[Lesson],
    *,
    start: Fitted | None = None,
    progress: Progress = lambda _done: None,
) -> list[Fitted]:
    """The parameters that replay the recording best, after each lesson; all start from 0, or from `start`."""
    free = tuple(free)
    known = {} if start is None else dict(zip((one.name for one in start.free), start.z.tolist(), strict=True))
    z = np.array([known.get(one.name, 0.0) for one in free])
    out: list[Fitted] = []
    for number, lesson in enumerate(course):
        problem = _Problem.of(rig, recording, lesson.where, free)

        def report(done: float, number: int = number) -> None:
            progress((number + done) / len(course))

        z, covariance = _search(problem, z, lesson.iterations, report)
        out.append(Fitted(free, z, covariance))
    return out


def promising(
    rig: Rig,
    recording: Recording,
    base: Sequence[Parameter],
    more: Mapping[str, Sequence[Parameter]],
    start: Fitted | None,
    where: Windows,
) -> dict[str, float]:
    """By how much each set of parameters would lower the cost beside `base`, were replays linear in all of them."""
    known = {} if start is None else dict(zip((one.name for one in start.free), start.z.tolist(), strict=True))
    free = (*base, *(one for group in more.values() for one in group))
    problem = _Problem.of(rig, recording, where, free)
    z = problem.clipped(np.array([known.get(one.name, 0.0) for one in free]))
    now = problem.errors(z[None])[0]
    weights = problem.weights(now)
    slopes = (problem.jacobian(z, now) * weights[..., None]).reshape(-1, len(free))
    normal, gradient = slopes.T @ slopes + np.eye(len(free)), slopes.T @ (now * weights).ravel() + z
    out: dict[str, float] = {}
    first = len(base)
    for name, group in more.items():
        rows = [*range(len(base)), *range(first, first + len(group))]
        first += len(group)
        pull: Float = gradient[rows]
        step = np.asarray(np.linalg.solve(normal[np.ix_(rows, rows)], pull), np.float64)
        out[name] = float(pull @ step)
    return out


def _foretold(rig: Rig, recording: Recording, where: Windows, most: int) -> Windows:
    """At most so many of the windows, of those whose course does not hang on what no sensor sees."""
    clear = foretellable(rig, recording, where)
    return (Windows(where.first[clear], where.length) if clear.sum() >= FEWEST else where).thinned(most)


def _longest(recording: Recording) -> float:
    return (max(end - start for start, end in recording.bounds) - 1) * recording.dt


@dataclass(frozen=True)
class _Problem:
    """Replays to be matched."""

    rig: Rig
    recording: Recording
    where: Windows
    free: tuple[Parameter, ...]
    samples: Int
    """Samples of a window that count (s,)."""
    wanted: Float
    """(W, s, n)."""
    scale: Float
    """How far joints go in a replay (n,)."""
    groups: tuple[tuple[int, ...], ...]
    """Parameters that are perturbed together."""
    rows: Float
    """(k, n): the joints that each parameter moves."""

    @staticmethod
    def of(rig: Rig, recording: Recording, where: Windows, free: tuple[Parameter, ...]) -> "_Problem":
        samples = np.unique(np.linspace(1, where.length - 1, min(SAMPLES, where.length - 1)).round().astype(np.int64))
        course = where.of(recording.position)
        scale = np.sqrt(np.mean(np.square(course - course[:, :1]), axis=(0, 1)))
        scale = np.maximum(scale, 1e-3 * max(float(scale.max()), 1e-9))
        trees = rig.trees
        rows = np.array([_moves(one, trees) for one in free])
        rows = rows.reshape(-1, len(trees))
        return _Problem(rig, recording, where, free, samples, course[:, samples], scale, _groups(free, trees), rows)

    def errors(self, z: Float) -> Float:
        """(P, W, s, n) for rows of z (P, k), in shares of how far joints go."""
        seen = replay(self.rig, self.recording, self.where, self.free, z).position[:, :, self.samples]
        return np.clip((seen - self.wanted) / self.scale, -10.0, 10.0)

    def jacobian(self, z: Float, now: Float) -> Float:
        """(W, s, n, k)."""
        variants = np.repeat(z[None], len(self.groups), axis=0)
        high = np.array([one.bounds()[1] for one in self.free])
        nudge = np.where(z + NUDGE > high, -NUDGE, NUDGE)
        for row, group in zip(variants, self.groups, strict=True):
            row[list(group)] += nudge[list(group)]
        moved = self.errors(variants) - now  # (groups, W, s, n)
        out = np.zeros((*now.shape, len(z)))
        for change, group in zip(moved, self.groups, strict=True):
            for one in group:
                out[..., one] = change * self.rows[one] / nudge[one]
        return out

    def weights(self, errors: Float) -> Float:
        """Roots of w / (sigma^2 tau) for errors (W, s, n)."""
        typical = np.maximum(TO_DEVIATION * np.median(np.abs(errors), axis=(0, 1)), SHARPEST)
        tau = max(1.0, len(self.samples) / INDEPENDENT)
        return 1 / (typical * np.hypot(1.0, errors / (OUTLYING * typical)) * np.sqrt(tau))

    def clipped(self, z: Float) -> Float:
        bounds = np.array([one.bounds() for one in self.free])
        return np.clip(z, bounds[:, 0], bounds[:, 1])


def _moves(one: Parameter, trees: Int) -> Float:
    """(n,): 1 for each joint that a parameter moves, and 0 for others."""
    moved = np.ones(len(trees)) if one.joint == EVERYWHERE else np.where(trees == int(trees[one.joint]), 1.0, 0.0)
    return np.asarray(moved, np.float64)


def _groups(free: tuple[Parameter, ...], trees: Int) -> tuple[tuple[int, ...], ...]:
    """Parameters that can be told apart though they are perturbed together: one of each tree."""
    alone = [(number,) for number, one in enumerate(free) if one.joint == EVERYWHERE]
    by_tree: dict[int, list[int]] = {}
    for number, one in enumerate(free):
        if one.joint != EVERYWHERE:
            by_tree.setdefault(int(trees[one.joint]), []).append(number)
    longest = max((len(one) for one in by_tree.values()), default=0)
    together = [tuple(one[turn] for one in by_tree.values() if turn < len(one)) for turn in range(longest)]
    return (*alone, *together)


def _search(problem: _Problem, z: Float, iterations: int, progress: Progress) -> tuple[Float, Float]:
    """Where the errors lead to from z, and the covariance there."""
    z = problem.clipped(z)
    now = problem.errors(z[None])[0]
    damp = 1e-2
    k = len(z)
    normal = np.zeros((k, k))
    for iteration in range(iterations):
        weights = problem.weights(now)
        slopes = (problem.jacobian(z, now) * weights[..., None]).reshape(-1, k)
        left = (now * weights).ravel()
        normal, gradient = slopes.T @ slopes, slopes.T @ left + z
        cost = float(left @ left + z @ z)
        best = None
        while damp < 1e6 and best is None:
            factors = (0.1, 1.0, 10.0)
            trials = np.stack([_moved(problem, z, normal, gradient, damp * one) for one in factors])
            found = problem.errors(trials)
            costs = [float(np.square(e * weights).sum() + t @ t) for e, t in zip(found, trials, strict=True)]
            chosen = int(np.argmin(costs))
            if costs[chosen] < cost:
                best, z, now = costs[chosen], trials[chosen], found[chosen]
                damp = max(damp * factors[chosen] * 0.5, 1e-7)
            else:
                damp *= 100
        progress((iteration + 1) / iterations)
        if best is None or cost - best < ENOUGH * cost:
            break
    return z, np.asarray(np.linalg.inv(normal + np.eye(k)), np.float64)


def _moved(problem: _Problem, z: Float, normal: Float, gradient: Float, damp: float) -> Float:
    """One damped step; what would leave its bounds stays on them, and the others are solved for without it."""
    bounds = np.array([one.bounds() for one in problem.free])
    fixed = ((z <= bounds[:, 0]) & (gradient > 0)) | ((z >= bounds[:, 1]) & (gradient < 0))
    loose = np.flatnonzero(~fixed)
    step = np.zeros_like(z)
    if len(loose):
        inner = normal[np.ix_(loose, loose)].copy()
        inner[np.diag_indices_from(inner)] = np.diag(inner) * (1 + damp) + 1.0 + damp
        step[loose] = -np.linalg.solve(inner, gradient[loose])
    return problem.clipped(z + np.clip(step, -LONGEST, LONGEST))
