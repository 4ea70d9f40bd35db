"""What each part of a method is worth: the same transfers with one part left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import Components
from isthmus.core import unknown_name
from isthmus.core.command import command_of
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Cell, Json, Progress, RunFolders, Watch, check_counts, run_grid, transfer
from isthmus.experiments.page import publish
from isthmus.experiments.tables import table
from isthmus.transfer import Config, Result, folder_name

UNADAPTED = "unadapted"
VARIANTS: Mapping[str, tuple[str, Components]] = {
    "whole": ("residual-action", Components()),
    "even weights": ("residual-action", Components(metric=False)),
    "no effort penalty": ("residual-action", Components(effort_penalty=False)),
    "no regression": ("residual-action", Components(regression=False)),
    "no observer": ("residual-action", Components(observer=False)),
    "no cross-validation": ("residual-action", Components(cross_validation=False)),
    "auto": ("auto", Components()),
    "auto, no correction": ("auto", Components(correction=False)),
    "auto, no fall-back": ("auto", Components(fall_back=False)),
}
"""By name, the method and its parts."""
FOLDERS = {
    "no effort penalty": "no price",
    "no regression": "no lines",
    "no observer": "nothing followed",
    "no cross-validation": "no doubt",
}
"""What the folders of their runs are called: earlier versions named them so."""
HISTORY, ROUNDS, EPISODES = 2, 2, 50
LEGEND = """\
"Whole" is `residual-action`, and five components of it are left out one at a time: the cost-to-go metric, the effort
penalty, the regression of the residual, the disturbance observer, and the cross-validation of the regression. Two are
of `auto`: without the correction nothing is identified, and rehearsals are in the source simulator, disturbed; without
the fall-back the unadapted policy cannot be taken.
"""


@dataclass(frozen=True)
class Ablated:
    """A robot, what is done to it, and the budget."""

    samples: int
    gaps: tuple[str, ...]


# Each family of gaps: dynamics that regression corrects, a delay, correlated noise, sensors; little data, much noise.
CASES: Mapping[str, Ablated] = {
    "reacher": Ablated(500, ("tilt=60", "delay=2", "motor-noise=0.2,noise-correlation=0.9")),
    "hopper": Ablated(
        2_000, ("gravity=0.8", "torque-scale=0.9", "motor-noise=0.5,noise-correlation=0.9", "sensor-noise=0.01")
    ),
    "half-cheetah": Ablated(2_000, ("mass=1.3", "motor-noise=0.2,noise-correlation=1")),
}


@dataclass(frozen=True)
class Ablation:
    """The results so far, each with the name of its variant."""

    seeds: int
    command: str
    results: Sequence[tuple[str, Result]]

    def rows(self) -> list[Json]:
        """A row for each task, gap and variant: the median and the worst over the seeds, and every seed."""
        every: dict[tuple[str, str, str], dict[int, float]] = {}
        for name, result in self.results:
            for variant, score in ((name, result.normalised_adapted), (UNADAPTED, result.normalised_unadapted)):
                every.setdefault((result.task, result.gap, variant), {})[result.seed] = score
        return [
            {
                "task": task,
                "gap": gap,
                "variant": variant,
                "median": float(np.median(list(scores.values()))),
                "worst": min(scores.values()),
                "seeds": [scores.get(seed) for seed in range(self.seeds)],
            }
            for (task, gap, variant), scores in every.items()
        ]

    def write(self, folder: Path) -> None:
        """Write ablation.json, and ablation.md with a row for each gap and a column for each variant."""
        names, every = (UNADAPTED, *VARIANTS), self.rows()
        found = {(row["task"], row["gap"], row["variant"]): row for row in every}
        rows = [
            (task, gap, *(_text(found.get((task, gap, name)), self.seeds) for name in names))
            for task, case in CASES.items()
            for gap in case.gaps
            if any((task, gap, name) in found for name in names)
        ]
        columns = ("task", "gap", *(f"{name} " for name in names))
        over = "one seed" if self.seeds == 1 else f"the median of {self.seeds} seeds and, in brackets, the worst"
        commit = commit_text([result.versions for _, result in self.results])
        text = (
            "# What each part is worth\n\n"
            f"Normalised score, {over}; {EPISODES} episodes, history {HISTORY}.\n"
            f"Made by `{self.command}`, commit {commit}; figures in [ablation.json](ablation.json).\n\n"
            f"{table(columns, rows)}\n\n{LEGEND}"
        )
        publish(folder, "ablation", {"command": self.command, "commit": commit, "rows": every}, text)


def ablation(
    tasks: Sequence[str], seeds: int, out: Path, results: Path, workers: int, watch: Watch[Result]
) -> Ablation:
    """Run what is missing in `out`; ablation.json and ablation.md are written to `results` after every run."""
    for task in tasks:
        if task not in CASES:
            raise unknown_name("task of the ablation", task, CASES)
    check_counts(seeds=seeds)
    named = None if set(tasks) == set(CASES) else tasks
    cells = [
        (variant, _cell(task, gap, variant, seed))
        for seed in range(seeds)
        for task in tasks
        for gap in CASES[task].gaps
        for variant in VARIANTS
    ]

    def so_far(found: Mapping[str, Result]) -> Ablation:
        there = [(variant, found[cell.file]) for variant, cell in cells if cell.file in found]
        return Ablation(seeds, command_of(("experiment", "ablation"), {"tasks": named, "seeds": seeds}), there)

    def show(progress: Progress[Result]) -> None:
        if progress.found:
            so_far(progress.found).write(results)
        watch(progress)

    return so_far(run_grid([cell for _, cell in cells], RunFolders(out), show, workers=workers))


def _cell(task: str, gap: str, variant: str, seed: int) -> Cell[Result]:
    method, parts = VARIANTS[variant]
    samples = CASES[task].samples
    config = Config(
        task,
        gap,
        method,
        samples=samples,
        seed=seed,
        round_samples=samples // ROUNDS,
        evaluation_episodes=EPISODES,
        interim_episodes=True,
        settings=MethodSettings(history=HISTORY, components=parts),
    )
    file = folder_name(task, gap, FOLDERS.get(variant, variant).replace(" ", "-"), f"seed-{seed:03d}")
    return Cell(f"{task}, {gap}, {variant}, seed {seed}", file, partial(transfer, config))


def _text(row: Json | None, seeds: int) -> str:
    if row is None:
        return "-"
    return f"{row['median']:.2f}" if seeds == 1 else f"{row['median']:.2f} ({row['worst']:.2f})"
