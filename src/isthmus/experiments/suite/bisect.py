"""Find the size of a gap that costs a policy so much, by bisection in simulation.

A family is looked at from small to large until it costs more than every rung. The first two neighbours with a rung
between their scores are its bracket: it holds a size with that score even where the score is not monotone beyond.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mujoco
import numpy as np

from isthmus.core import AnyPolicy, Problem, stream
from isthmus.evaluate import Scale, evaluate
from isthmus.experiments.suite.calibration import CalibratedFamily, Rung
from isthmus.experiments.suite.families import Family, Way
from isthmus.experiments.suite.settings import BISECTIONS, CLOSE, LEAST_LOSS, RUNGS, SCAN
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.tasks import Task

Score = Callable[[Gap], float]
"""The share of its score that a gap leaves the unadapted policy."""
WHOLE_SCAN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 50)
"""Sizes at which a dial of whole numbers is looked at."""


def scorer(task: Task, policy: AnyPolicy, episodes: int, seed: int) -> Score:
    """Scores from the same starts, whatever the gap."""

    def score(gap: Gap, who: AnyPolicy) -> float:
        return evaluate(task, task.target(gap, episodes), who, 1, stream(seed, "calibrate")).score

    scale = Scale(score(Gap(), ZeroPolicy(task.robot_model.spec.action_size)), score(Gap(), policy))
    return lambda gap: scale(score(gap, policy))


def calibrate_family(family: Family, model: mujoco.MjModel, score: Score) -> CalibratedFamily:
    """The rungs of a family: by its first way that costs the main one, or else by the one that costs most."""
    walks = [_Walk(way, model, score) for way in family.ways]
    for walk in walks:
        walk.scan()
        if walk.least <= RUNGS[0]:
            break
    fitting = [walk for walk in walks if walk.scores]
    if not fitting:
        return CalibratedFamily(family.name, (), next(walk.problem for walk in walks if walk.problem), ())
    best = min(fitting, key=lambda walk: walk.least)
    rungs = [rung for share in RUNGS if (rung := best.rung(share)) is not None]
    missing = [f"{share:g}" for share in RUNGS if share not in [rung.share for rung in rungs]]
    note = f"cannot leave {' or '.join(missing)}: {best.extreme}" if missing else ""
    return CalibratedFamily(family.name, tuple(rungs), note, tuple(best.tried))


@dataclass
class _Walk:
    """One way of a family on a robot, and what was tried of it."""

    way: Way
    model: mujoco.MjModel
    score: Score
    scores: dict[float, float] = field(default_factory=dict[float, float])
    """By amount."""
    problem: str = ""
    """Why it goes no farther."""

    def scan(self) -> None:
        """Go on until the policy is below the last rung, or to the end of the dial."""
        for amount in self._amounts:
            if not self._try(amount) or self.scores[amount] < min(RUNGS):
                return

    @property
    def least(self) -> float:
        """The lowest score so far."""
        return min(self.scores.values(), default=math.inf)

    @property
    def extreme(self) -> str:
        """Its most costly size, in words."""
        amount = min(self.scores, key=lambda one: self.scores[one])
        end = f"; {self.problem}" if self.problem else ""
        return f"{self.gap(amount)} leaves {self.scores[amount]:.2f}{end}"

    @property
    def tried(self) -> list[tuple[str, float]]:
        """Sizes and scores, the smallest first."""
        return [(self.gap(amount), self.scores[amount]) for amount in sorted(self.scores)]

    def gap(self, amount: float) -> str:
        """The gap as it is written."""
        return str(self.way.at(amount, self.model))

    def rung(self, share: float) -> Rung | None:
        """The size that leaves `share`, as near as bisection comes; None where no size leaves as little."""
        ordered = [0.0, *sorted(self.scores)]
        high = next((amount for amount in ordered[1:] if self.scores[amount] <= share), None)
        if high is None:
            return None
        low = ordered[ordered.index(high) - 1]
        for _ in range(0 if self.way.is_whole else BISECTIONS):
            if self._nearest(share, (low, high))[1] <= CLOSE:
                break
            middle = (low + high) / 2
            if not self._try(middle):
                break
            low, high = (middle, high) if self.scores[middle] > share else (low, middle)
        amount, _ = self._nearest(share, (low, high))
        return Rung(share, self.gap(amount), self.scores[amount])

    @property
    def _amounts(self) -> Sequence[float]:
        if not self.way.is_whole:
            return SCAN
        end = max(turn.end for turn in self.way.turns)
        return [size / end for size in WHOLE_SCAN if size <= end]

    def _try(self, amount: float) -> bool:
        """Score a size; False where it cannot be simulated."""
        if amount in self.scores:
            return True
        try:
            with np.errstate(over="raise", invalid="raise"):
                found = self.score(self.way.at(amount, self.model))
        except (Problem, FloatingPointError) as problem:
            self.problem = str(problem)
            return False
        if not math.isfinite(found):
            self.problem = f"{self.gap(amount)} cannot be simulated"
            return False
        self.scores[amount] = found
        return True

    def _nearest(self, share: float, amounts: Sequence[float]) -> tuple[float, float]:
        """Which of the amounts that cost anything comes nearest to a share, and how near."""
        there = [amount for amount in amounts if self.scores.get(amount, 1.0) <= 1 - LEAST_LOSS]
        best = min(there, key=lambda amount: abs(self.scores[amount] - share))
        return best, abs(self.scores[best] - share)
