"""After training: calibrate the confidence, write ONNX, and measure on renderings and on path-traced pictures."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core.commit import current_commit
from isthmus.io import read_json, write_json
from isthmus.vision.localiser.confidence import fit_calibration
from isthmus.vision.localiser.evaluate import Outcome, Trial, confidences, judge, make_trials, score, summarise
from isthmus.vision.localiser.export import export_networks
from isthmus.vision.localiser.file import LocaliserFile
from isthmus.vision.localiser.locate import Localiser
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.localiser.run import torch_localiser, trained_networks
from isthmus.vision.localiser.settings import HISTORY, RESULTS, TrainSettings
from isthmus.vision.stage.build import build_stage
from isthmus.vision.stage.draw import ANY, CONDITIONS
from isthmus.vision.stage.scene import read_scene
from isthmus.vision.tracer.photographs import read_photographs

JUDGED = 200
"""Renderings of each condition that are judged; twice as many others calibrate the confidence."""
WORST = 6
"""Pictures of each condition that are shown in the report."""
TIMED = 40
COARSE_WEIGHTS = (0.5, 0.25, 1.0, 0.0)
"""That are tried; the first of those that are as good."""


def finish(
    settings: TrainSettings, folder: Path, report: Callable[[str], None], count: int = JUDGED
) -> tuple[dict[str, Any], list[tuple[Trial, Outcome]]]:
    """Write the localiser of a run's checkpoint and its figures on renderings; returns these and the worst cases."""
    scene = read_scene(settings.scene)
    coarse, crop, effort = trained_networks(settings, folder)
    localiser = torch_localiser(coarse, crop, settings.frame, scene)
    report("calibrating")
    held_out = make_trials(
        settings.scene, settings.randomise, settings.frame, 2 * count, settings.seed + 2, conditions=(ANY,)
    )
    localiser = calibrated(localiser, held_out)
    report("writing ONNX")
    export_networks(coarse, crop, settings.frame, folder)
    LocaliserFile(
        localiser.facts, settings.frame, localiser.calibration, build_stage(scene, settings.randomise, (64, 64)).camera,
        scene.table, effort.images, current_commit(),
    ).save(folder)  # fmt: skip
    localiser, _ = load_localiser(folder)  # what is judged is what is used
    report("measuring on renderings")
    trials = make_trials(settings.scene, settings.randomise, settings.frame, count, settings.seed + 3)
    outcomes = score(localiser, trials)
    results: dict[str, Any] = {
        "object": settings.scene.target,
        "images": effort.images,
        "training": asdict(effort),
        "milliseconds": milliseconds(localiser, trials[0]),
        "renderings": summarise(outcomes, localiser.facts.radius),
        "history": read_json(folder / HISTORY)["points"] if (folder / HISTORY).is_file() else [],
        "commit": current_commit(),
        "settings": settings.to_json(),
    }
    write_json(folder / RESULTS, results)
    return results, worst(trials, outcomes)


def score_photographs(
    folder: Path, photographs: Path, half: str, report: Callable[[str], None]
) -> tuple[dict[str, Any], list[tuple[Trial, Outcome]]]:
    """Measure a trained localiser on path-traced pictures."""
    localiser, facts = load_localiser(folder)
    trials, outcomes = list[Trial](), list[Outcome]()
    for condition in CONDITIONS:
        report(f"measuring on pictures: {condition}")
        for one in read_photographs(photographs, half, condition):
            labels = one.labels
            trials.append(
                Trial(
                    condition, one.read(), labels.camera, np.array(labels.position), labels.yaw,
                    np.array(labels.distractors).reshape(-1, 3), one.path,
                )
            )  # fmt: skip
            outcomes += score(localiser, trials[-1:])
    figures = summarise(outcomes, localiser.facts.radius)
    return {"half": half, "images": facts.images, "commit": current_commit(), **figures}, worst(trials, outcomes)


def calibrated(localiser: Localiser, trials: Sequence[Trial]) -> Localiser:
    """The localiser with the weight of its first stage, and the confidence, that fit these trials best."""
    seen = [localiser.candidates(one.picture, one.camera) for one in trials]
    best, outcomes = localiser, list[Outcome]()
    for weight in COARSE_WEIGHTS:
        one = replace(localiser, calibration=replace(localiser.calibration, coarse_weight=weight))
        found = [
            judge(one, trial, one.choose(candidates, trial.camera))
            for trial, candidates in zip(trials, seen, strict=True)
        ]
        if not outcomes or sum(each.right for each in found) > sum(each.right for each in outcomes):
            best, outcomes = one, found
    _, right = confidences(outcomes)
    features = np.array([one.located.features for one in outcomes])
    error = np.array([one.error for one in outcomes])
    std = np.array([one.located.std for one in outcomes])
    return replace(best, calibration=fit_calibration(features, right, error, std, best.calibration))


def worst(trials: Sequence[Trial], outcomes: Sequence[Outcome]) -> list[tuple[Trial, Outcome]]:
    """The pictures of each condition with the largest errors."""
    pairs = sorted(zip(trials, outcomes, strict=True), key=lambda one: -one[1].error)
    return [
        pair
        for condition in dict.fromkeys(one.condition for one in trials)
        for pair in [one for one in pairs if one[0].condition == condition][:WORST]
    ]


def milliseconds(localiser: Localiser, trial: Trial) -> float:
    """Median processor time of one core to locate the object in a picture."""
    took: list[float] = []
    for _ in range(TIMED):
        began = time.process_time()
        localiser.locate(trial.picture, trial.camera)
        took.append(1000 * (time.process_time() - began))
    return float(np.median(took))
