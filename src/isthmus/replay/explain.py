"""What explains the difference between a simulator and a recording: families of parameters, one after the other.

Every family (delay, friction, motor, ...) is fitted to the training part, beside those that were taken before, and the
one that replays the validation part best is taken next, as long as it explains enough. So the order says what matters
most, and the shares add up. Where several explain nearly as much, the one with the fewest parameters is taken, and the
others are named too: the recording does not tell them apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.replay.errors import Predictor
from isthmus.replay.fit import Fitted, Lesson, fit, promising
from isthmus.replay.parameters import FAMILIES, Parameter, of_families
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.simulate import Residual, replay
from isthmus.replay.windows import Windows

WORTHWHILE = 0.05
"""Share of the mean square error left so far that a family must explain to be taken."""
NOTICEABLE = 0.01
"""Share of the simulator's own mean square error that it must explain."""
ALIKE = 0.8
"""A family that explains this share of what the best one does could be it as well,"""
LEFT = 4.0
"""unless it leaves this many times the mean square error, which is twice the rms error."""
LIKELY = 3
"""Families that are fitted in each turn after the first: those that promise most."""
Report = Callable[[str, float], None]


@dataclass(frozen=True)
class Judge:
    """Mean square errors on one part of a recording, in shares of how far joints go."""

    rig: Rig
    recording: Recording
    where: Windows
    scale: Float
    """(n,)."""

    def __call__(self, predict: Predictor) -> float:
        """Of anything that expects positions."""
        off = (predict(self.recording, self.where) - self.where.of(self.recording.position))[:, 1:] / self.scale
        return float(np.mean(np.square(np.clip(off, -10.0, 10.0))))


def predictor(rig: Rig, fitted: Fitted | None = None, residual: Residual | None = None) -> Predictor:
    """Replays in the simulator as it is, or with what was fitted."""

    def predict(recording: Recording, where: Windows) -> Float:
        free, z = ((), None) if fitted is None else (fitted.free, fitted.z[None])
        return replay(rig, recording, where, free, z, residual).position[0]

    return predict


@dataclass(frozen=True)
class Explained:
    """One step of the explanation."""

    family: str
    alone: float
    """Mean square error on the validation part with this family and nothing else."""
    after: float
    """With this family and all before it."""
    rivals: tuple[str, ...]
    """Families that explain nearly as much at this point."""
    fitted: Fitted


def explain(
    rig: Rig,
    train: Recording,
    judge: Judge,
    known: Sequence[Parameter],
    course: Sequence[Lesson],
    report: Report = lambda _what, _done: None,
) -> tuple[float, tuple[Explained, ...], dict[str, float]]:
    """The simulator's own mean square error on the validation part, the explanation, and each family's error alone."""
    source = judge(predictor(rig))
    taken: list[Explained] = []
    alone: dict[str, float] = {}
    left = [one for one in FAMILIES if of_families(known, (one,))]
    now, fitted = source, None
    while left:
        tried: dict[str, tuple[float, Fitted]] = {}
        before = [one.family for one in taken]
        likely = _likely(rig, train, known, before, left, fitted, course) if taken else left
        for number, family in enumerate(likely):
            report(f"explaining: {family}", (len(taken) + number / len(likely)) / len(FAMILIES))
            free = of_families(known, (*before, family))
            found = fit(rig, train, free, course, start=fitted)
            tried[family] = min(((judge(predictor(rig, one)), one) for one in found), key=lambda one: one[0])
        if not taken:
            alone = {family: error for family, (error, _) in tried.items()}
        gained = max(now - error for error, _ in tried.values())
        if gained < max(WORTHWHILE * now, NOTICEABLE * source):
            break
        able = alike({one: error for one, (error, _) in tried.items()}, now, source)
        family = min(able, key=lambda one: (len(of_families(known, (one,))), tried[one][0]))
        rivals = tuple(one for one in able if one != family)
        error, best = tried[family]
        taken.append(Explained(family, alone[family], error, rivals, best))
        now, fitted = error, best
        left = [one for one in left if one != family]
    return source, tuple(taken), alone


def alike(tried: Mapping[str, float], now: float, source: float) -> list[str]:
    """The families whose mean square errors, of `now` without any of them, are nearly as small as the smallest.

    A family that explains 92 % is not as good as one that explains 99.9 %. Errors below what is noticeable of the
    `source` simulator's are not told apart.
    """
    best = min(tried.values())
    most = max(LEFT * best, NOTICEABLE * source)
    return [one for one, error in tried.items() if now - error >= ALIKE * (now - best) and error <= most]


def _likely(
    rig: Rig,
    train: Recording,
    known: Sequence[Parameter],
    before: list[str],
    left: list[str],
    fitted: Fitted | None,
    course: Sequence[Lesson],
) -> list[str]:
    """The families that are worth a fit."""
    more = {family: of_families(known, (family,)) for family in left}
    gains = promising(rig, train, of_families(known, before), more, fitted, course[0].where)
    return sorted(left, key=lambda family: -gains[family])[:LIKELY]
