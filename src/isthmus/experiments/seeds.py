"""The same crossing from many seeds: how good it is, and how sure that is."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.core.command import command_of
from isthmus.core.commit import commits_of
from isthmus.experiments.pool import run_units
from isthmus.experiments.unit import Unit
from isthmus.io import check_tree, write_json
from isthmus.transfer import Config, Result


@dataclass(frozen=True)
class SeedStudy:
    """Results of one configuration over seeds."""

    config: Config
    results: tuple[Result, ...]

    def to_json(self) -> dict[str, Any]:
        """The figures: each seed, and median, worst and quartiles at every number of samples."""
        adapted = [result.normalised_adapted for result in self.results]
        unadapted = [result.normalised_unadapted for result in self.results]
        return {
            "task": self.config.task,
            "gap": self.config.gap,
            "method": self.config.method,
            "history": self.config.settings.history,
            "samples": self.config.samples,
            "seeds": [result.seed for result in self.results],
            "loss_unadapted": [result.expert - result.unadapted for result in self.results],
            "normalised_unadapted": _summary(unadapted),
            "normalised_adapted": _summary(adapted),
            "curve": [{"samples": samples} | _summary(scores) for samples, scores in zip(*self.curves(), strict=True)],
            "command": self.command,
            "commit": ", ".join(commits_of(result.versions for result in self.results)),
            "versions": self.results[0].versions,
        }

    @property
    def command(self) -> str:
        """What makes this study again."""
        config = self.config
        options = {
            **(config.policy.options if config.policy else {}),
            "gap": config.gap,
            "method": config.method,
            "may_retrain": config.settings.may_retrain,
            "samples": config.samples,
            "history": config.settings.history,
            "seeds": len(self.results),
        }
        return command_of(("experiment", "seeds", config.task), options)

    def curves(self) -> tuple[list[int], list[list[float]]]:
        """Numbers of samples, and at each the normalised score of every seed."""
        samples = [point.samples for point in self.results[0].curve]
        return samples, [[result.curve[i].normalised for result in self.results] for i in range(len(samples))]


def study_seeds(
    config: Config, seeds: Sequence[int], out: Path, workers: int, watch: Callable[[Result], None]
) -> SeedStudy:
    """Cross from every seed, on `workers` processes; runs that are complete in `out` are taken as they are."""
    if not seeds:
        raise Problem("a study needs at least one seed")
    check_tree(out)
    units = [Unit(f"seed {seed}", dataclasses.replace(config, seed=seed), out / f"seed-{seed:03d}") for seed in seeds]
    results: list[Result] = []

    def deliver(_unit: Unit, result: Result) -> None:
        results.append(result)
        watch(result)

    run_units(units, deliver, workers=workers)
    study = SeedStudy(config, tuple(sorted(results, key=lambda result: result.seed)))
    write_json(out / "study.json", study.to_json())
    return study


def _summary(values: list[float]) -> dict[str, Any]:
    low, median, high = np.percentile(values, (25, 50, 75))
    return {
        "median": float(median),
        "worst": min(values),
        "quartiles": [float(low), float(high)],
        "seeds": values,
    }
