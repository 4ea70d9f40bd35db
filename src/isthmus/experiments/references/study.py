"""Follow recorded observations across gaps, with a simulator and without one, beside a policy that has its actions."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from isthmus.adapt.settings import FitSettings, MethodSettings
from isthmus.core import stream, unknown_name
from isthmus.evaluate import Scale, evaluate
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Cell, Json, Progress, Watch, run_grid, transfer
from isthmus.experiments.page import publish
from isthmus.experiments.references.drawing import draw_references
from isthmus.experiments.store import CellFiles
from isthmus.experiments.tables import table as markdown
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer import Config, PolicyFile, source_policy
from isthmus.transfer.source.record import record_reference
from isthmus.transfer.source.reference import write_reference

EPISODES, SIMULATED_EPISODES = 50, 16
"""Behind a score; fewer for methods that simulate in every step."""
FIT = FitSettings(epochs=100, patience=15)
Knowledge = Literal["actions", "observations and simulator", "observations"]
COLUMNS = ("task", "gap", "known of the source", "method", "samples ", "seeds ", "score ", "of the expert ", "lowest ")


@dataclass(frozen=True)
class Way:
    """One way to follow a source."""

    method: str
    known: Knowledge
    follow: str = "auto"


@dataclass(frozen=True)
class Case:
    """A task, a gap, how much was recorded of the source, and how many steps may be taken on the target."""

    task: str
    gap: str
    recorded: int
    """Episodes."""
    samples: int
    round_samples: int
    ways: tuple[Way, ...]


WITH, BOTH, ALONE = "actions", "observations and simulator", "observations"
CASES: tuple[Case, ...] = (
    Case(
        "fetch-swing",
        "torque-scale=0.7,joint-friction=3",
        24,
        600,
        300,
        (Way("preview", WITH), Way("preview", ALONE), Way("inverse", WITH), Way("inverse", ALONE)),
    ),
    Case(
        "reacher",
        "tilt=45",
        50,
        2000,
        500,
        (Way("inverse", WITH), Way("model-inverse", BOTH), Way("inverse", ALONE), Way("inverse", ALONE, "track")),
    ),
    Case("half-cheetah", "none", 5, 10_000, 2000, (Way("inverse", ALONE),)),
    Case("half-cheetah", "gravity=0.8", 5, 10_000, 2000, (Way("inverse", ALONE),)),
)


@dataclass(frozen=True)
class References:
    """What was found so far."""

    rows: tuple[Json, ...]

    def summary(self) -> list[Json]:
        """One row for each way to follow: means over the seeds."""
        keys = ("task", "gap", "known", "method", "follow", "samples")
        groups: dict[tuple[object, ...], list[Json]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        return [
            dict(zip(keys, group, strict=True))
            | {"seeds": [row["seed"] for row in rows]}
            | {name: float(np.mean([row[name] for row in rows])) for name in ("score", *BASELINES, "normalised")}
            | {"lowest": min(row["normalised"] for row in rows)}
            for group, rows in groups.items()
        ]

    def table(self) -> list[tuple[str, ...]]:
        """The summary as text, under `COLUMNS`, with what doing nothing and the expert come to on the target."""
        lines: list[tuple[str, ...]] = []
        shown: set[tuple[str, str]] = set()
        for one in self.summary():
            if (one["task"], one["gap"]) not in shown:
                shown.add((one["task"], one["gap"]))
                for name, label in (("zero_target", "no action"), ("expert_target", "the expert, unadapted")):
                    share = _share(one, one[name])
                    lines.append((one["task"], one["gap"], "", label, "0", "", f"{one[name]:.2f}", f"{share:.3f}", ""))
            way = one["method"] if one["follow"] == "auto" else f"{one['method']}, {one['follow']}"
            counts = f"{one['samples']:,}", str(len(one["seeds"]))
            figures = f"{one['score']:.2f}", f"{one['normalised']:.3f}", f"{one['lowest']:.3f}"
            lines.append((one["task"], one["gap"], one["known"], way, *counts, *figures))
        return lines

    def write(self, folder: Path, command: str) -> None:
        """Write references.json, .md and .svg."""
        commit = commit_text([row["versions"] for row in self.rows])
        data = {"command": command, "commit": commit, "summary": self.summary(), "rows": list(self.rows)}
        text = (
            "# Sources without actions\n\n"
            f"Made by `{command}`, commit {commit}; figures in [references.json](references.json). The shipped expert "
            "is recorded in its own simulator, and its actions are thrown away ([references](../references.md)). Of "
            "the expert: 1 is the expert in its simulator, 0 is doing nothing there. Scores are the task's; on the "
            "Fetch swing, minus the summed distance from the recorded motion."
            f"\n\n{markdown(COLUMNS, self.table())}\n\n![Sources without actions](references.svg)\n"
        )
        publish(folder, "references", data, text, draw_references(self.summary()))


BASELINES = ("zero", "expert", "zero_target", "expert_target")


def study_references(
    tasks: Sequence[str], seeds: Sequence[int], out: Path, results: Path, command: str, watch: Watch[Json]
) -> References:
    """Run every way of the cases of `tasks` from every seed; cells that are in `out` are only read.

    After every cell, what there is so far is in `results`.
    """
    known = {case.task for case in CASES}
    for task in tasks:
        if task not in known:
            raise unknown_name("task of this study:", task, known)
    cells = [
        _cell(case, way, seed, out)
        for seed in seeds
        for case in CASES
        if not tasks or case.task in tasks
        for way in case.ways
    ]

    def so_far(found: Mapping[str, Json]) -> References:
        return References(tuple(found[cell.file] for cell in cells if cell.file in found))

    def show(progress: Progress[Json]) -> None:
        if progress.found:
            so_far(progress.found).write(results, command)
        watch(progress)

    return so_far(run_grid(cells, CellFiles(out), show))


def _cell(case: Case, way: Way, seed: int, out: Path) -> Cell[Json]:
    settings: Json = {"case": dataclasses.asdict(case) | {"ways": []}, "way": dataclasses.asdict(way), "seed": seed}
    parts = case.task, case.gap.replace("=", "-").replace(",", "-"), way.known.replace(" ", "-"), way.method, way.follow
    file = f"{'-'.join(parts)}-{seed:03d}"
    return Cell(f"{', '.join(parts)}, seed {seed}", file, partial(run_way, case, way, seed, out), case.task, settings)


def run_way(case: Case, way: Way, seed: int, out: Path, folder: Path) -> Json:
    """One transfer, on the scale of the shipped expert."""
    task = load_task(case.task)
    expert = source_policy(task, None)
    policy = None
    if way.known != WITH:
        path = out / "recorded" / f"{case.task}-{seed:03d}.npz"
        if not path.exists():
            reference = record_reference(task, expert, Gap.parse("none"), case.recorded, seed)
            write_reference(path, reference, task.robot_model.spec)
        policy = PolicyFile(str(path), reference=True)
    config = Config(
        task=case.task,
        gap=case.gap,
        method=way.method,
        samples=case.samples,
        seed=seed,
        round_samples=case.round_samples,
        evaluation_episodes=SIMULATED_EPISODES if way.method == "model-inverse" else EPISODES,
        interim_episodes=True,
        settings=MethodSettings(fit=FIT, follow=way.follow),
        policy=policy,
    )
    result = transfer(config, folder)
    trial, gap = task.trial, Gap.parse(case.gap)
    nothing = ZeroPolicy(task.robot_model.spec.action_size)
    scores = {
        name: evaluate(trial, world(config.evaluation_episodes), one, 1, stream(seed, "evaluate")).score
        for name, one, world in (
            ("zero", nothing, trial.source),
            ("expert", expert, trial.source),
            ("zero_target", nothing, partial(trial.target, gap)),
            ("expert_target", expert, partial(trial.target, gap)),
        )
    }
    return {
        "task": case.task,
        "gap": case.gap,
        "known": way.known,
        "method": way.method,
        "follow": way.follow,
        "seed": seed,
        "recorded_episodes": case.recorded,
        "samples": result.samples,
        "score": result.adapted,
        "followed_in_source": result.expert,
        "followed_unadapted": result.unadapted,
        **scores,
        "normalised": Scale(scores["zero"], scores["expert"])(result.adapted),
        "evaluation_episodes": config.evaluation_episodes,
        "versions": result.versions,
    }


def _share(row: Json, score: float) -> float:
    return (score - row["zero"]) / (row["expert"] - row["zero"])
