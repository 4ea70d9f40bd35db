"""Measure a localiser: its error in cm, how often it has the right object, and whether its confidence is true."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Bool, Float
from isthmus.vision.camera import Camera
from isthmus.vision.localiser.confidence import calibration_error, reliability
from isthmus.vision.localiser.locate import Localiser, Located
from isthmus.vision.pixels import Image
from isthmus.vision.randomise import Randomise
from isthmus.vision.renderer import Renderer
from isthmus.vision.samples import Frame, camera_of, fold, new_samples
from isthmus.vision.stage.draw import CONDITIONS
from isthmus.vision.stage.scene import SceneFile, read_scene

LOST = 1.0
"""Error in metres of an answer that is nowhere on the table."""


@dataclass(frozen=True)
class Trial:
    """A picture and what it shows."""

    condition: str
    picture: Image
    camera: Camera
    position: Float  # (3,)
    yaw: float
    distractors: Float  # (n, 3)
    path: Path | None = None
    """Where it is from, if it is a file."""


@dataclass(frozen=True)
class Outcome:
    """What a localiser said of a trial."""

    condition: str
    located: Located
    error: float
    """In metres, on the table."""
    right: bool
    """Whether it has the right object."""
    yaw_error: float | None


def make_trials(
    scene: SceneFile, randomise: Randomise, frame: Frame, count: int, seed: int, conditions: Sequence[str] = CONDITIONS
) -> list[Trial]:
    """Render `count` pictures of each condition at full resolution."""
    whole = replace(frame, coarse=frame.full, crops=0)
    out = new_samples(1, whole)
    trials: list[Trial] = []
    with Renderer(read_scene(scene), randomise, whole, seed=seed) as renderer:
        for condition in conditions:
            for index in range(count):
                drawn = renderer.sample(index, out[0], condition)
                trials.append(
                    Trial(
                        condition, out[0]["coarse"].copy(), camera_of(out[0], whole), drawn.position, drawn.yaw,
                        drawn.distractors,
                    )
                )  # fmt: skip
    return trials


def score(localiser: Localiser, trials: Iterable[Trial]) -> list[Outcome]:
    """Locate the object in every trial."""
    return [judge(localiser, trial, localiser.locate(trial.picture, trial.camera)) for trial in trials]


def judge(localiser: Localiser, trial: Trial, located: Located) -> Outcome:
    """Compare an answer with the truth."""
    facts = localiser.facts
    if not np.isfinite(located.position).all():
        return Outcome(trial.condition, located, LOST, right=False, yaw_error=None)
    error = float(np.linalg.norm((located.position - trial.position)[:2]))
    others = np.linalg.norm((trial.distractors - located.position)[:, :2], axis=1)
    right = error <= 2 * facts.radius and bool(np.all(error <= others))
    yaw = None if located.yaw is None else abs(fold(located.yaw - trial.yaw, facts.symmetry))
    return Outcome(trial.condition, located, min(error, LOST), right=right, yaw_error=yaw)


def summarise(outcomes: Sequence[Outcome], radius: float) -> dict[str, Any]:
    """Figures for each condition, and of the confidence over all of them."""
    found: dict[str, Any] = {"radius_cm": 100 * radius}
    for condition in dict.fromkeys(one.condition for one in outcomes):
        found[condition] = _figures([one for one in outcomes if one.condition == condition])
    confidence, right = confidences(outcomes)
    found["confidence"] = {
        "calibration_error": calibration_error(confidence, right),
        "bins": [list(row) for row in reliability(confidence, right)],
    }
    return found


def confidences(outcomes: Sequence[Outcome]) -> tuple[Float, Bool]:
    """Confidence (n,) and whether it was right (n,)."""
    return np.array([one.located.confidence for one in outcomes]), np.array([one.right for one in outcomes], bool)


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    error = 100 * np.array([one.error for one in outcomes])
    right = np.array([one.right for one in outcomes], bool)
    sure = np.array([one.located.sure for one in outcomes], bool)
    yaw = [one.yaw_error for one in outcomes if one.yaw_error is not None and one.right]
    return {
        "n": len(outcomes),
        "median_cm": float(np.median(error)),
        "mean_cm": float(error.mean()),
        "p90_cm": float(np.percentile(error, 90)),
        "right": float(right.mean()),
        "median_cm_right": float(np.median(error[right])) if right.any() else None,
        "sure": float(sure.mean()),
        "right_when_sure": float(right[sure].mean()) if sure.any() else None,
        "median_yaw_deg": float(np.rad2deg(np.median(yaw))) if yaw else None,
    }
