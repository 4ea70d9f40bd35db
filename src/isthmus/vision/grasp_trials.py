"""Grasps with a localiser in the loop: a picture among distractors, an answer, and a grasp where it says."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.core.commit import current_commit
from isthmus.vision.grasp import SHAPES, Gripper
from isthmus.vision.localiser.evaluate import Trial, judge, make_trials
from isthmus.vision.localiser.locate import Located
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.localiser.settings import read_settings

SCENE = "fetch"
REACH = (0.15, 0.2)
"""How far from the table's middle an object may lie for the arm to reach it from above, in x and y."""
SPARE = 8
"""Scenes that are drawn for one within reach."""


Watch = Callable[[Trial, Located, Gripper], None]


def grasp_trials(
    folder: Path, count: int, seed: int, report: Callable[[int], None], watch: Watch | None = None
) -> dict[str, Any]:
    """Let the Fetch grasp `count` times among distractors where the localiser of a folder says that the object is.

    `watch` is called in every control period of a grasp.
    """
    settings = read_settings(folder)
    if settings.scene.path != SCENE or settings.scene.target not in SHAPES:
        raise Problem(
            f"{folder} locates {settings.scene.target!r} in {settings.scene.path}: the Fetch grasps the "
            f"{' or the '.join(SHAPES)} of the scene {SCENE!r}; train that with `isthmus vision train {SCENE}`"
        )
    localiser, facts = load_localiser(folder)
    gripper, rows = Gripper(settings.scene.target), list[dict[str, Any]]()
    centre = facts.table.low[0] / 2 + facts.table.high[0] / 2, facts.table.low[1] / 2 + facts.table.high[1] / 2
    drawn = make_trials(
        settings.scene, settings.randomise, settings.frame, SPARE * count, seed + 4, conditions=("distractors",)
    )
    for trial in [one for one in drawn if _within_reach(one, centre)][:count]:
        located = localiser.locate(trial.picture, trial.camera)
        outcome = judge(localiser, trial, located)
        tried = bool(np.isfinite(located.position).all()) and located.sure
        look = None if watch is None else partial(watch, trial, located, gripper)
        grasp = (
            gripper.attempt(trial.position, trial.yaw, located.position, located.yaw or 0.0, look) if tried else None
        )
        rows.append(
            {
                "picked": grasp is not None and grasp.picked,
                "tried": tried,
                "right": outcome.right,
                "error_cm": 100 * outcome.error,
                "yaw_error_deg": None if outcome.yaw_error is None else float(np.rad2deg(outcome.yaw_error)),
                "confidence": located.confidence,
                "distractors": len(trial.distractors),
            }
        )
        report(len(rows))
    return {
        "object": settings.scene.target,
        "trials": len(rows),
        "picked": sum(one["picked"] for one in rows),
        "not_sure": sum(not one["tried"] for one in rows),
        "wrong_object": sum(one["tried"] and not one["right"] for one in rows),
        "rows": rows,
        "images": facts.images,
        "seed": seed,
        "commit": current_commit(),
    }


def _within_reach(trial: Trial, centre: tuple[float, float]) -> bool:
    x, y = np.abs(trial.position[:2] - centre)
    return bool(x < REACH[0] and y < REACH[1])
