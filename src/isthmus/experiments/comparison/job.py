"""What a comparison has to do, in pieces that each come to one file and can be taken up by any process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.evaluate.oracle import oracle_score
from isthmus.experiments.comparison.case import Case
from isthmus.experiments.comparison.entry import Entry
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.transfer import Result, RunFolder, folder_name, run_transfer, shared_context, source_policy


@dataclass(frozen=True)
class RunJob:
    """An entry crosses from one seed."""

    case: Case
    entry: Entry
    seed: int

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.case.name}, {self.entry.label}, seed {self.seed}"

    @property
    def file(self) -> str:
        """Names its file."""
        case = self.case
        return folder_name(case.task, case.gap, self.entry.label, case.samples, f"seed-{self.seed:03d}")

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides what it comes to."""
        return self.case.config(self.entry, self.seed).to_json()

    def run(self, folder: Path) -> dict[str, Any]:
        """Cross in `folder`, or go on there."""
        config, run = self.case.config(self.entry, self.seed), RunFolder(folder)
        result = run_transfer(
            config, run, resume=True, traces=False, context=shared_context(config.task, config.policy, config.seed)
        )
        took = run.step_time()
        return {
            "normalised": result.normalised_adapted,
            "unadapted": result.normalised_unadapted,
            "episode_error": _episode_error(result),
            "samples": result.samples,
            "curve": [[point.samples, point.normalised] for point in result.curve],
            "chosen": result.chosen,
            "predicted": result.predicted,
            "fit_seconds": result.seconds["fit"],
            "step_microseconds": took.p50 if took else None,
            "step_p99_microseconds": took.p99 if took else None,
            "versions": result.versions,
        }


@dataclass(frozen=True)
class OracleJob:
    """The oracle carries the policy across, in one metric."""

    case: Case
    metric: str

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.case.name}, ceiling, {self.metric}"

    @property
    def file(self) -> str:
        """Names its file."""
        return folder_name(self.case.task, self.case.gap, "ceiling", self.metric)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that decides what it comes to."""
        case = self.case
        policy = vars(case.policy) if case.policy else None
        return {"task": case.task, "gap": case.gap, "episodes": case.oracle_episodes, "policy": policy}

    def run(self, folder: Path) -> dict[str, Any]:  # noqa: ARG002 - it leaves nothing in between
        """Find the ceiling."""
        task = load_task(self.case.task)
        policy, gap = source_policy(task, self.case.policy), Gap.parse(self.case.gap)
        return oracle_score(task, gap, policy, self.metric, episodes=self.case.oracle_episodes, seed=0).to_json()


Job = RunJob | OracleJob
BROKEN = FloatingPointError, np.linalg.LinAlgError
"""What a method commands may be more than a simulation bears, or than can be computed."""


@dataclass(frozen=True)
class Placed:
    """A job and where it may work."""

    job: Job
    folder: Path

    @property
    def name(self) -> str:
        """As people read it."""
        return self.job.name


def do(placed: Placed) -> dict[str, Any]:
    """What a job comes to; one that cannot be done says why, and others go on."""
    try:
        return placed.job.run(placed.folder)
    except (Problem, *BROKEN) as problem:
        return {"problem": str(problem)}


def _episode_error(result: Result) -> float:
    """Standard error of the normalised score, by the episodes behind it."""
    return result.std["adapted"] / (result.expert - result.zero) / float(np.sqrt(result.evaluation_episodes))
