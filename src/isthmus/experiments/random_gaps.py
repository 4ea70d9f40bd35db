"""Random gaps on several robots: how far a method gets on gaps that nobody chose, and whether it ever does harm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from isthmus.core import Problem
from isthmus.experiments.by_seed import commit_text
from isthmus.experiments.grid import Cell, Json, Progress, RunFolders, Watch, run_grid, transfer
from isthmus.experiments.page import publish
from isthmus.experiments.plot import draw_random_gaps
from isthmus.experiments.tables import table as markdown
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, folder_name

TASKS = ("reacher", "hopper", "half-cheetah", "humanoid")
"""The tasks that ship with an expert."""
EPISODES = 50
WORTH = 0.05
"""Smaller differences say nothing either way."""
SUMMARY = ("task", "gaps ", "unadapted ", "adapted ", "helps ", "hurts ", "predicted to ")
COLUMNS = ("task", "gap", "unadapted ", "adapted ", "predicted ", "taken", "")


@dataclass(frozen=True)
class Survey:
    """Results on random gaps."""

    results: tuple[Result, ...]

    def rows(self, task: str | None = None) -> list[Json]:
        """One row a transfer, of one robot or of all."""
        return [_row(result) for result in self.results if task in (None, result.task)]

    def by_task(self) -> dict[str, list[Json]]:
        """The rows of each robot."""
        return {task: self.rows(task) for task in dict.fromkeys(result.task for result in self.results)}

    def summary(self) -> list[Json]:
        """One row a robot: medians, and how often adaptation helped and hurt."""
        return [_summary(task, rows) for task, rows in self.by_task().items()]

    def summary_table(self) -> list[tuple[str, ...]]:
        """The summary as text, under `SUMMARY`."""
        return [
            (
                *(one["task"], str(one["gaps"]), f"{one['unadapted']:.3f}", f"{one['adapted']:.3f}"),
                *(f"{one['helps']:.0%}", f"{one['hurts']:.0%}", _number(one["foreseen_error"], 2)),
            )
            for one in self.summary()
        ]

    def table(self) -> list[tuple[str, ...]]:
        """Every transfer as text, under `COLUMNS`."""
        return [
            (
                *(row["task"], row["gap"], f"{row['unadapted']:.3f}", f"{row['adapted']:.3f}"),
                *(_number(row["foreseen"], 3), row["taken"], row["verdict"]),
            )
            for row in self.rows()
        ]

    def write(self, folder: Path, command: str) -> None:
        """Write survey.json, .md and .svg."""
        commit = commit_text([result.versions for result in self.results])
        data = {"command": command, "commit": commit, "summary": self.summary(), "rows": self.rows()}
        text = (
            "# Random gaps\n\n"
            f"Made by `{command}`, commit {commit}; figures in [survey.json](survey.json). Normalised scores "
            f"(expert in its simulator = 1, doing nothing there = 0), {EPISODES} evaluation episodes. Every gap is "
            "drawn at random, two to five dials of it (`random:SEED`, see [gaps.md](../gaps.md)), and crossed once. "
            f"Helps, hurts: by more than {WORTH}. Predicted to: how far the score predicted in rehearsal is from the "
            "one achieved (median)."
            f"\n\n{markdown(SUMMARY, self.summary_table())}\n\n![Random gaps](survey.svg)\n\n"
            f"{markdown(COLUMNS, self.table())}\n"
        )
        publish(folder, "survey", data, text, draw_random_gaps(self.by_task()))


def survey(
    tasks: Sequence[str],
    gaps: Sequence[int],
    out: Path,
    results: Path,
    command: str,
    *,
    method: str,
    samples: int,
    workers: int,
    watch: Watch[Result],
) -> Survey:
    """Transfer across the random `gaps`, named by their seeds, on each of `tasks`; complete runs in `out` are read.

    After every run, what there is so far is in `results`: survey.json, .md and .svg.
    """
    if not gaps or gaps[0] < 0:
        raise Problem("a survey needs at least one gap, and they begin at 0")
    for task in tasks:
        load_task(task)
    cells = [
        Cell(
            f"{task}, random:{number}",
            folder_name(task, f"random:{number}", method, samples),
            partial(
                transfer,
                Config(task, f"random:{number}", method, samples, seed=number, evaluation_episodes=EPISODES),
            ),
        )
        for task in tasks
        for number in gaps
    ]

    def so_far(found: Mapping[str, Result]) -> Survey:
        return Survey(tuple(found[cell.file] for cell in cells if cell.file in found))

    def show(progress: Progress[Result]) -> None:
        if progress.found:
            so_far(progress.found).write(results, command)
        watch(progress)

    return so_far(run_grid(cells, RunFolders(out), show, workers=workers))


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _row(result: Result) -> Json:
    gain = result.normalised_adapted - result.normalised_unadapted
    return {
        "task": result.task,
        "gap": result.gap,
        "seed": result.seed,
        "method": result.method,
        "samples": result.samples,
        "unadapted": result.normalised_unadapted,
        "adapted": result.normalised_adapted,
        "foreseen": result.predicted,
        "taken": result.chosen,
        "verdict": "helps" if gain > WORTH else "hurts" if gain < -WORTH else "",
    }


def _summary(task: str, rows: Sequence[Json]) -> Json:
    errors = [abs(row["foreseen"] - row["adapted"]) for row in rows if row["foreseen"] is not None]
    return {
        "task": task,
        "gaps": len(rows),
        "unadapted": float(np.median([row["unadapted"] for row in rows])),
        "adapted": float(np.median([row["adapted"] for row in rows])),
        "helps": float(np.mean([row["verdict"] == "helps" for row in rows])),
        "hurts": float(np.mean([row["verdict"] == "hurts" for row in rows])),
        "foreseen_error": float(np.median(errors)) if errors else None,
    }
