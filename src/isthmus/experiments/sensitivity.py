"""How much of an expert's score each gap costs it: the curve that says how robust it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Problem, stream
from isthmus.core.statistics import standard_error
from isthmus.evaluate import Scale, evaluate
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.tasks import Task

DIALS: dict[str, tuple[float, ...]] = {
    "tilt": (0, 15, 30, 45, 60, 75, 90),
    "gravity": (0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3),
    "mass": (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5),
    "damping": (0, 0.5, 1, 1.5, 2, 3),
    "armature": (0.5, 0.75, 1, 1.5, 2),
    "contact-friction": (0.4, 0.6, 0.8, 1, 1.5, 2),
    "torque-scale": (0.6, 0.8, 0.9, 1, 1.1, 1.2, 1.5),
    "torque-limit": (0.2, 0.4, 0.6, 0.8, 1),
    "motor-noise": (0, 0.1, 0.2, 0.4, 0.7, 1),
    "delay": (0, 1, 2, 3),
    "backlash": (0, 0.05, 0.1, 0.2, 0.4),
    "dead-band": (0, 0.05, 0.1, 0.2, 0.4),
    "sensor-noise": (0, 0.01, 0.03, 0.1),
    "sensor-delay": (0, 1, 2),
}
"""Where each dial is measured."""


@dataclass(frozen=True)
class Curve:
    """Score against one dial."""

    dial: str
    values: tuple[float, ...]
    normalised: tuple[float, ...]
    standard_error: tuple[float, ...]
    """Standard error of each."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {"dial": self.dial, "points": [
            {"value": value, "normalised": score, "standard_error": error}
            for value, score, error in zip(self.values, self.normalised, self.standard_error, strict=True)
        ]}  # fmt: skip


def sensitivity(
    task: Task, policy: AnyPolicy, dials: Sequence[str], episodes: int, seed: int, watch: Callable[[Curve], None]
) -> list[Curve]:
    """The curves of `policy` on `task`; dials that do not fit the robot are left out."""

    def scores(gap: str, who: AnyPolicy) -> np.ndarray:
        world = task.target(Gap.parse(gap), episodes)
        return evaluate(task, world, who, 1, stream(seed, "sensitivity")).scores

    zero = ZeroPolicy(task.robot_model.spec.action_size)
    scale = Scale(float(scores("none", zero).mean()), float(scores("none", policy).mean()))
    curves: list[Curve] = []
    for dial in dials:
        try:
            Gap.parse(f"{dial}={DIALS[dial][-1]}").apply(task.robot_model.model)
        except Problem:
            continue
        found = [scores(f"{dial}={value}", policy) for value in DIALS[dial]]
        error = [float(standard_error(one, ddof=0)) / (scale.expert - scale.zero) for one in found]
        curve = Curve(dial, DIALS[dial], tuple(scale(float(one.mean())) for one in found), tuple(error))
        curves.append(curve)
        watch(curve)
    return curves
