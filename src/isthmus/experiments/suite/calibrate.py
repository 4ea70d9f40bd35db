"""Calibrate the families of gaps on robots: one cell a robot and family, resumed after a kill."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from isthmus.core import Problem
from isthmus.core.command import command_of
from isthmus.core.commit import commits_of, current_commit
from isthmus.experiments.grid import Cell, Json, Progress, Watch, run_grid
from isthmus.experiments.store import CellFiles
from isthmus.experiments.suite.bisect import calibrate_family, scorer
from isthmus.experiments.suite.calibration import CalibratedFamily, Calibration, policy_digest
from isthmus.experiments.suite.families import FAMILIES, family
from isthmus.experiments.suite.settings import CALIBRATION_SEED, RUNGS
from isthmus.io import from_json
from isthmus.robots import load_task
from isthmus.transfer import PolicyFile, folder_name, source_policy


@dataclasses.dataclass(frozen=True)
class _Found:
    """What a cell holds."""

    text: str
    family: dict[str, Any]
    versions: dict[str, str]


def calibrate(
    tasks: Sequence[str],
    out: Path,
    *,
    policy: PolicyFile | None,
    episodes: int,
    workers: int = 1,
    watch: Watch[Json] = lambda _progress: None,
) -> list[Calibration]:
    """Calibrate what is missing in `out`, and write OUT/calibration/TASK.json as soon as a robot is complete."""
    if episodes < 2:
        raise Problem(f"episodes must be at least 2, got {episodes}")
    for task in tasks:
        source_policy(load_task(task), policy)
    cells = {task: [_cell(task, one.name, policy, episodes) for one in FAMILIES] for task in tasks}

    def show(progress: Progress[Json]) -> None:
        for task in tasks:
            if all(cell.file in progress.found for cell in cells[task]):
                _calibration(task, cells[task], progress.found, policy, episodes).save(out / "calibration")
        watch(progress)

    every = [cell for some in cells.values() for cell in some]
    found = run_grid(every, CellFiles(out), show, workers=workers)
    return [_calibration(task, cells[task], found, policy, episodes) for task in tasks]


def _cell(task: str, name: str, policy: PolicyFile | None, episodes: int) -> Cell[Json]:
    settings = {
        "task": task,
        "family": dataclasses.asdict(family(name)),
        "rungs": list(RUNGS),
        "episodes": episodes,
        "seed": CALIBRATION_SEED,
        "policy": policy_digest(task, policy),
    }
    file = folder_name("calibration", task, name)
    run = partial(_calibrate, task, name, policy, episodes)
    return Cell(f"{task}, {name}", file, run, task, settings, _Found)


def _calibrate(task_name: str, name: str, policy: PolicyFile | None, episodes: int, _folder: Path) -> Json:
    task = load_task(task_name)
    score = scorer(task, source_policy(task, policy), episodes, CALIBRATION_SEED)
    found = calibrate_family(family(name), task.robot_model.model, score)
    text = "; ".join([*(f"{rung.gap} leaves {rung.unadapted:.2f}" for rung in found.rungs), found.note])
    plain = json.loads(json.dumps(dataclasses.asdict(found)))  # as it is stored
    return {"text": text, "family": plain, "versions": {"commit": current_commit()}}


def _calibration(
    task: str, cells: Sequence[Cell[Json]], found: Mapping[str, Json], policy: PolicyFile | None, episodes: int
) -> Calibration:
    there = [found[cell.file] for cell in cells]
    options = {"calibrate": True, "tasks": task, **(policy.options if policy else {}), "episodes": episodes}
    families = [
        from_json(CalibratedFamily, cast("Json", one["family"]), Path(cell.file), "a calibrated family")
        for one, cell in zip(there, cells, strict=True)
    ]
    return Calibration(
        task=task,
        policy=policy_digest(task, policy),
        episodes=episodes,
        seed=CALIBRATION_SEED,
        command=command_of(("experiment", "suite"), options),
        commit=", ".join(commits_of([one["versions"] for one in there])),
        families=tuple(families),
    )
