"""The cells of a comparison: a method from one seed, and the oracle with one metric."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.evaluate.oracle import oracle_score
from isthmus.experiments.comparison.case import Case, Entry
from isthmus.experiments.grid import Cell, Json, transfer
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.transfer import Config, RunFolder, folder_name, source_policy


@dataclass(frozen=True)
class MethodResult:
    """The result of a method from one seed; files of earlier versions lack the fields with a default."""

    normalised: float
    unadapted: float
    episode_error: float
    samples: int
    curve: tuple[tuple[int, float], ...]
    fit_seconds: float
    step_microseconds: float | None
    versions: dict[str, str]
    chosen: str = ""
    predicted: float | None = None
    step_p99_microseconds: float | None = None


@dataclass(frozen=True)
class OracleResult:
    """The result of the oracle with one metric; files of earlier versions lack the fields with a default."""

    oracle: bool
    estimate: bool
    task: str
    gap: str
    metric: str
    episodes: int
    seed: int
    normalised: float
    standard_error: float
    normalised_unadapted: float
    limited: float
    unactuated: float
    missed: dict[str, float]
    out_of_reach: float
    fitted: dict[str, Any] | None = None
    commit: str = ""


BROKEN = Problem, FloatingPointError, np.linalg.LinAlgError
"""Why there may be no result: a method refuses the task, or the simulation or the numerics diverge."""


def method_file(case: Case, entry: Entry, seed: int) -> str:
    """The file of an entry from one seed."""
    return folder_name(case.task, case.gap, entry.label, case.samples, f"seed-{seed:03d}")


def method_cell(case: Case, entry: Entry, seed: int) -> Cell[Json]:
    """An entry from one seed."""
    config, name = case.config(entry, seed), f"{case.name}, {entry.label}, seed {seed}"
    file, run = method_file(case, entry, seed), partial(run_method, config)
    return Cell(name, file, run, case.task, config.to_json(), MethodResult)


def run_method(config: Config, folder: Path) -> Json:
    """The scores and costs of a transfer, or the problem with it."""
    try:
        result = transfer(config, folder)
    except BROKEN as problem:
        return {"problem": str(problem)}
    took = RunFolder(folder).step_time()
    error = result.std["adapted"] / (result.expert - result.zero) / float(np.sqrt(result.evaluation_episodes))
    return {
        "normalised": result.normalised_adapted,
        "unadapted": result.normalised_unadapted,
        "episode_error": error,
        "samples": result.samples,
        "curve": [[point.samples, point.normalised] for point in result.curve],
        "chosen": result.chosen,
        "predicted": result.predicted,
        "fit_seconds": result.seconds["fit"],
        "step_microseconds": took.p50 if took else None,
        "step_p99_microseconds": took.p99 if took else None,
        "versions": result.versions,
    }


def oracle_file(case: Case, metric: str) -> str:
    """The file of the oracle with one metric."""
    return folder_name(case.task, case.gap, "ceiling", metric)


def oracle_cell(case: Case, metric: str) -> Cell[Json]:
    """The oracle with one metric."""
    policy = vars(case.policy) if case.policy else None
    settings = {"task": case.task, "gap": case.gap, "episodes": case.oracle_episodes, "policy": policy}
    name, run = f"{case.name}, oracle, {metric}", partial(_run_oracle, case, metric)
    return Cell(name, oracle_file(case, metric), run, case.task, settings, OracleResult)


def _run_oracle(case: Case, metric: str, _folder: Path) -> Json:
    task = load_task(case.task)
    try:
        policy, gap = source_policy(task, case.policy), Gap.parse(case.gap)
        return oracle_score(task, gap, policy, metric, episodes=case.oracle_episodes, seed=0).to_json()
    except BROKEN as problem:
        return {"problem": str(problem)}
