"""The same transfer from many seeds: how well it works, and how much that varies."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import Problem
from isthmus.core.command import command_of
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Cell, Json, RunFolders, Watch, run_grid, transfer
from isthmus.io import write_json
from isthmus.transfer import Config, Result


@dataclass(frozen=True)
class SeedStudy:
    """Results of one configuration over seeds."""

    config: Config
    results: tuple[Result, ...]

    def to_json(self) -> Json:
        """Every seed, and the median, worst and quartiles at every number of samples."""
        return {
            "task": self.config.task,
            "gap": self.config.gap,
            "method": self.config.method,
            "history": self.config.settings.history,
            "samples": self.config.samples,
            "seeds": [result.seed for result in self.results],
            "loss_unadapted": [result.expert - result.unadapted for result in self.results],
            "normalised_unadapted": _summary([result.normalised_unadapted for result in self.results]),
            "normalised_adapted": _summary([result.normalised_adapted for result in self.results]),
            "curve": [{"samples": samples} | _summary(scores) for samples, scores in zip(*self.curves(), strict=True)],
            "command": self.command,
            "commit": commit_text([result.versions for result in self.results]),
            "versions": self.results[0].versions,
        }

    @property
    def command(self) -> str:
        """The command that repeats this study."""
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


def study_seeds(config: Config, seeds: Sequence[int], out: Path, workers: int, watch: Watch[Result]) -> SeedStudy:
    """Run `config` from every seed and write study.json; runs that are complete in `out` are only read."""
    if not seeds:
        raise Problem("a study needs at least one seed")
    cells = [
        Cell(f"seed {seed}", f"seed-{seed:03d}", partial(transfer, dataclasses.replace(config, seed=seed), traces=True))
        for seed in sorted(seeds)
    ]
    found = run_grid(cells, RunFolders(out), watch, workers=workers)
    study = SeedStudy(config, tuple(found[cell.file] for cell in cells))
    write_json(out / "study.json", study.to_json())
    return study


def _summary(values: list[float]) -> Json:
    low, median, high = np.percentile(values, (25, 50, 75)).tolist()
    return {"median": median, "worst": min(values), "quartiles": [low, high], "seeds": values}
