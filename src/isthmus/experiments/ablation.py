"""What each part of the method is worth: the same crossings with one of them left out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings.components import Components
from isthmus.core import Problem, unknown_name
from isthmus.core.command import command_of
from isthmus.core.commit import commits_of
from isthmus.experiments.pool import run_units
from isthmus.experiments.tables import table
from isthmus.experiments.unit import Unit
from isthmus.io import check_tree, write_json, write_whole
from isthmus.transfer import Config, Result, folder_name

UNADAPTED = "unadapted"
VARIANTS: Mapping[str, tuple[str, Components]] = {
    "whole": ("residual-action", Components()),
    "even weights": ("residual-action", Components(metric=False)),
    "no price": ("residual-action", Components(effort_penalty=False)),
    "no lines": ("residual-action", Components(regression=False)),
    "nothing followed": ("residual-action", Components(observer=False)),
    "no doubt": ("residual-action", Components(cross_validation=False)),
    "auto": ("auto", Components()),
    "auto, no correction": ("auto", Components(correction=False)),
    "auto, no fall-back": ("auto", Components(fall_back=False)),
}
"""By name, the method and its parts."""
HISTORY, ROUNDS, EPISODES = 2, 2, 50
LEGEND = """\
"Whole" is `residual-action`, and five parts of it are left out one at a time: the weights of what may be missed, the
price of making up for it, the lines that say what commands come to beside what they should (the residual), the
following of disturbances that last, and the doubt that holds back lines which other episodes do not confirm. Two are of
`auto`: without the correction nothing is identified, and rehearsals are in the simulator as it was, disturbed; without
the fall-back the policy as it is cannot be taken.
"""


@dataclass(frozen=True)
class Ablated:
    """A robot, what is done to it, and the budget."""

    samples: int
    gaps: tuple[str, ...]


# Each family of gaps: dynamics that lines make up for, a delay, noise that lasts, sensors; little data for much noise.
CASES: Mapping[str, Ablated] = {
    "reacher": Ablated(500, ("tilt=60", "delay=2", "motor-noise=0.2,noise-correlation=0.9")),
    "hopper": Ablated(
        2_000, ("gravity=0.8", "torque-scale=0.9", "motor-noise=0.5,noise-correlation=0.9", "sensor-noise=0.01")
    ),
    "half-cheetah": Ablated(2_000, ("mass=1.3", "motor-noise=0.2,noise-correlation=1")),
}


@dataclass
class Ablation:
    """The scores so far, by task, gap and variant, of every seed."""

    seeds: int
    command: str
    versions: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """What each crossing was computed with."""
    scores: dict[tuple[str, str, str], dict[int, float]] = field(
        default_factory=dict[tuple[str, str, str], dict[int, float]]
    )

    def add(self, config: Config, variant: str, result: Result) -> None:
        """Take in a crossing."""
        self.versions.append(result.versions)
        for name, score in ((variant, result.normalised_adapted), (UNADAPTED, result.normalised_unadapted)):
            self.scores.setdefault((config.task, config.gap, name), {})[result.seed] = score

    @property
    def commit(self) -> str:
        """The commit of the code, or of each that made some of it."""
        return ", ".join(commits_of(self.versions))

    def rows(self) -> list[dict[str, Any]]:
        """One a task, gap and variant: the median and the worst of the seeds, and each."""
        return [
            {
                "task": task,
                "gap": gap,
                "variant": variant,
                "median": float(np.median(list(scores.values()))),
                "worst": min(scores.values()),
                "seeds": [scores.get(seed) for seed in range(self.seeds)],
            }
            for (task, gap, variant), scores in self.scores.items()
        ]

    def to_markdown(self) -> str:
        """The page: gaps below each other, variants side by side."""
        names = (UNADAPTED, *VARIANTS)
        found = {(row["task"], row["gap"], row["variant"]): row for row in self.rows()}
        gaps = [(task, gap) for task, case in CASES.items() for gap in case.gaps]
        rows = [
            (task, gap, *(_cell(found.get((task, gap, name)), self.seeds) for name in names))
            for task, gap in gaps
            if any((task, gap, name) in found for name in names)
        ]
        columns = ("task", "gap", *(f"{name} " for name in names))
        over = "one seed" if self.seeds == 1 else f"the median of {self.seeds} seeds and, in brackets, the worst"
        return (
            "# What each part is worth\n\n"
            f"Normalised score, {over}; {EPISODES} episodes, history {HISTORY}.\n"
            f"Made by `{self.command}`, commit {self.commit}; figures in [ablation.json](ablation.json).\n\n"
            f"{table(columns, rows)}\n\n{LEGEND}"
        )


def ablation(
    tasks: Sequence[str], seeds: int, out: Path, results: Path, workers: int, watch: Callable[[str, Result], None]
) -> Ablation:
    """Run what is missing in `out`; ablation.json and ablation.md are in `results` after every crossing."""
    for task in tasks:
        if task not in CASES:
            raise unknown_name("task of the ablation", task, CASES)
    if seeds < 1:
        raise Problem("an ablation needs at least one seed")
    check_tree(out)
    named = None if set(tasks) == set(CASES) else tasks
    found = Ablation(seeds, command_of(("experiment", "ablation"), {"tasks": named, "seeds": seeds}))
    units = {
        _unit(task, gap, variant, seed, out): variant
        for seed in range(seeds)
        for task in tasks
        for gap in CASES[task].gaps
        for variant in VARIANTS
    }

    def deliver(unit: Unit, result: Result) -> None:
        found.add(unit.config, units[unit], result)
        kept = {"command": found.command, "commit": found.commit, "rows": found.rows()}
        write_json(results / "ablation.json", kept)
        write_whole(results / "ablation.md", found.to_markdown().encode())
        watch(unit.name, result)

    run_units(list(units), deliver, workers=workers)
    return found


def _unit(task: str, gap: str, variant: str, seed: int, out: Path) -> Unit:
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
    folder = out / folder_name(task, gap, variant.replace(" ", "-"), f"seed-{seed:03d}")
    return Unit(f"{task}, {gap}, {variant}, seed {seed}", config, folder, traces=False)


def _cell(row: Mapping[str, Any] | None, seeds: int) -> str:
    if row is None:
        return "-"
    return f"{row['median']:.2f}" if seeds == 1 else f"{row['median']:.2f} ({row['worst']:.2f})"
