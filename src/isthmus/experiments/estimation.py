"""What estimation is worth: transfers whose sensors are noisy, off or incomplete, with and without an estimator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import check_range, unknown_name
from isthmus.core.command import command_of
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Cell, Json, Progress, RunFolders, Watch, check_counts, run_grid, transfer
from isthmus.experiments.page import publish
from isthmus.experiments.tables import table
from isthmus.io import read_json
from isthmus.transfer import Config, Result, folder_name

FILE = "estimation.json"
EPISODES, SAMPLES = 16, 1_000
"""Episodes behind a score, and samples where nothing else is said."""


@dataclass(frozen=True)
class Case:
    """A target, what is sensed there, and what should come of it."""

    task: str
    gap: str
    sensors: tuple[str, ...] = ()
    samples: int = SAMPLES
    wanted: float = 0.9
    """Of the expert; 0 where it is compared with the run without an estimator instead."""

    @property
    def sensed(self) -> str:
        """What is sensed, in words."""
        return ", ".join(self.sensors) or "all"


POSITIONS = ("positions",)
GAPS = ("sensor-noise=0.01", "sensor-bias=0.005", "sensor-noise=0.01,gravity=0.9", "sensor-bias=0.005,gravity=0.9")
# Random gaps of the survey that a policy did not survive because of its sensors.
SURVEYED = (
    "contact-friction=1.22,mass:foot=0.89,damping=0.745,sensor-bias=0.00186,sensor-noise=0.00551",
    "contact-friction=1.3,damping=1.85,motor-noise=0.124,noise-correlation=1,sensor-noise=0.0068",
    "gravity=1.03,link-length:foot=0.92,delay=1,backlash=0.0611,sensor-noise=0.00281",
)
GROUPS: Mapping[str, Sequence[Case]] = {
    "positions": (Case("hopper", "none", POSITIONS), Case("hopper", "gravity=0.8", POSITIONS, 3_000, 0.85)),
    "noise": tuple(Case(task, gap) for gap in GAPS for task in ("hopper", "half-cheetah")),
    "survey": tuple(Case("hopper", gap) for gap in SURVEYED),
    "exact": tuple(Case(task, "gravity=0.9", wanted=0.0) for task in ("hopper", "half-cheetah")),
}
"""Cases by name; `exact` has sensors that need no estimator, where none must be lost by one."""


@dataclass(frozen=True)
class EstimationStudy:
    """The results so far, each with its case and its estimator."""

    seeds: int
    command: str
    results: Sequence[tuple[Case, str, Result]]

    def rows(self) -> list[Json]:
        """A row for each case and estimator, with every seed."""
        every: dict[tuple[Case, str], Json] = {}
        for case, estimator, result in self.results:
            every.setdefault((case, estimator), {})[str(result.seed)] = {
                "unadapted": result.normalised_unadapted,
                "adapted": result.normalised_adapted,
                "chosen": result.chosen,
                "commit": commit_text([result.versions]),
            }
        return [
            _row(
                {
                    "task": case.task,
                    "gap": case.gap,
                    "sensors": case.sensed,
                    "estimator": estimator,
                    "samples": case.samples,
                    "wanted": case.wanted or None,
                },
                seeds,
            )
            for (case, estimator), seeds in every.items()
        ]

    def write(self, folder: Path) -> None:
        """Write estimation.json, and estimation.md with a row for each case and estimator.

        Rows and seeds that were published there before, and are none of this study's, stay as they were; but for
        rows in the form of earlier versions, which kept no more than a score of every seed.
        """
        path = folder / FILE
        published = read_json(path).get("rows", ()) if path.exists() else ()
        rows = {_key(row): row for row in published if all(isinstance(one, dict) for one in row["seeds"].values())}
        for row in self.rows():
            before = rows.get(_key(row), row)
            rows[_key(row)] = _row(row, before["seeds"] | row["seeds"])
        write_rows(folder, list(rows.values()), self.command)


def _key(row: Json) -> tuple[object, ...]:
    return tuple(row[name] for name in ("task", "gap", "sensors", "estimator", "samples"))


def _row(about: Json, seeds: Json) -> Json:
    """What a row is about, with the figures of its seeds."""
    seeds = dict(sorted(seeds.items(), key=lambda one: int(one[0])))
    every = list(seeds.values())
    return about | {
        "unadapted": float(np.median([one["unadapted"] for one in every])),
        "median": float(np.median([one["adapted"] for one in every])),
        "worst": min(one["adapted"] for one in every),
        "chosen": sorted({one["chosen"] for one in every}),
        "commit": ", ".join(sorted({one["commit"] for one in every})),
        "seeds": seeds,
    }


def write_rows(folder: Path, every: Sequence[Json], command: str) -> None:
    """Publish rows, each of which names the commits that it was made by."""
    rows = [
        (
            *(row[name] for name in ("task", "gap", "sensors", "estimator")),
            f"{row['samples']:,}",
            *(f"{row[name]:.3f}" for name in ("unadapted", "median", "worst")),
            f"{row['wanted']:.2f}" if row["wanted"] else "as without",
            str(len(row["seeds"])),
            row["commit"],
        )
        for row in every
    ]
    names = ("task", "gap", "sensed", "estimator")
    columns = (*names, "samples ", "unadapted ", "median ", "worst ", "wanted ", "seeds ", "commit")
    text = (
        "# Noisy, biased and incomplete sensors\n\n"
        f"Normalised score by `auto` over {EPISODES} episodes: median and worst of the seeds that were run.\n"
        "Unadapted is the policy on what the sensors show; what is not sensed is shown as at the start.\n"
        f"Made by `{command}`, each row by the commits that it names. Rows and seeds that it leaves out are as "
        "they were published before. Figures of every seed are in [estimation.json](estimation.json).\n\n"
        f"{table(columns, rows)}\n"
    )
    publish(folder, "estimation", {"command": command, "rows": list(every)}, text)


@dataclass(frozen=True)
class Choice:
    """What is asked for of the study."""

    groups: tuple[str, ...]
    estimators: tuple[str, ...]
    seeds: int
    first: int = 0
    """The first seed that is run: those before it stay as they were published."""
    gaps: tuple[str, ...] = ()
    """Only cases of these; of all gaps when empty."""

    def __post_init__(self) -> None:
        """Refuse groups and gaps that there are not, and a first seed beyond the last."""
        for group in self.groups:
            if group not in GROUPS:
                raise unknown_name("group of cases", group, GROUPS)
        known = [case.gap for group in self.groups for case in GROUPS[group]]
        for gap in self.gaps:
            if gap not in known:
                raise unknown_name("gap of these cases", gap, known)
        check_counts(seeds=self.seeds)
        check_range("first", self.first, 0, self.seeds - 1)

    @property
    def command(self) -> str:
        """What to type for it."""
        groups = None if set(self.groups) == set(GROUPS) else self.groups
        options = {"groups": groups, "gaps": self.gaps, "estimators": self.estimators, "seeds": self.seeds}
        return command_of(("experiment", "estimation"), options)

    def cells(self) -> list[tuple[Case, str, Cell[Result]]]:
        """Every seed of every case, one seed after the other."""
        return [
            (case, estimator, _cell(case, estimator, seed))
            for seed in range(self.first, self.seeds)
            for group in self.groups
            for case in GROUPS[group]
            if not self.gaps or case.gap in self.gaps
            for estimator in ((*self.estimators, "none") if group == "exact" else self.estimators)
        ]


def estimation(choice: Choice, out: Path, results: Path, workers: int, watch: Watch[Result]) -> EstimationStudy:
    """Run what is missing in `out`; estimation.json and estimation.md are written to `results` after every run."""
    cells = choice.cells()

    def so_far(found: Mapping[str, Result]) -> EstimationStudy:
        there = [(case, name, found[cell.file]) for case, name, cell in cells if cell.file in found]
        return EstimationStudy(choice.seeds, choice.command, there)

    def show(progress: Progress[Result]) -> None:
        if progress.found:
            so_far(progress.found).write(results)
        watch(progress)

    return so_far(run_grid([cell for _, _, cell in cells], RunFolders(out), show, workers=workers))


def _cell(case: Case, estimator: str, seed: int) -> Cell[Result]:
    config = Config(
        case.task,
        case.gap,
        samples=case.samples,
        seed=seed,
        round_ends=(case.samples // 2, case.samples),
        evaluation_episodes=EPISODES,
        evaluate_rounds=False,
        interim_episodes=True,
        estimator=estimator,
        sensors=case.sensors,
    )
    sensed = "-".join(case.sensors) or "all"
    file = folder_name(case.task, case.gap, f"{estimator}-{sensed}", f"seed-{seed:03d}")
    return Cell(
        f"{case.task}, {case.gap}, {case.sensed} sensed, {estimator}, seed {seed}", file, partial(transfer, config)
    )
