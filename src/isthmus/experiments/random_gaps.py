"""Gaps that nobody chose: random ones on several robots, and what comes of crossing them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.core.commit import commits_of
from isthmus.experiments.plot import plot_survey
from isthmus.experiments.pool import run_units
from isthmus.experiments.tables import table as markdown
from isthmus.experiments.unit import Unit
from isthmus.io import check_tree, write_json, write_whole
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, folder_name

TASKS = ("reacher", "hopper", "half-cheetah", "humanoid")
"""Those that ship with an expert."""
EPISODES = 50
WORTH = 0.05
"""Differences below this say nothing either way."""
SUMMARY = ("task", "gaps ", "unadapted ", "adapted ", "helps ", "hurts ", "foreseen to ")
COLUMNS = ("task", "gap", "unadapted ", "adapted ", "foreseen ", "taken", "")


@dataclass(frozen=True)
class Survey:
    """What came of random gaps."""

    results: tuple[Result, ...]

    @property
    def tasks(self) -> list[str]:
        """The robots."""
        return list(dict.fromkeys(result.task for result in self.results))

    @property
    def commit(self) -> str:
        """The commit of the code, or of each that made some of it."""
        return ", ".join(commits_of(result.versions for result in self.results))

    def rows(self, task: str | None = None) -> list[dict[str, Any]]:
        """One a crossing, of one robot or of all."""
        return [_row(result) for result in self.results if task in (None, result.task)]

    def summary(self) -> list[dict[str, Any]]:
        """One a robot: medians, and how often it helped and hurt."""
        return [_summary(task, self.rows(task)) for task in self.tasks]

    def summary_table(self) -> list[tuple[str, ...]]:
        """The same for people."""
        return [
            (
                *(one["task"], str(one["gaps"]), f"{one['unadapted']:.3f}", f"{one['adapted']:.3f}"),
                *(f"{one['helps']:.0%}", f"{one['hurts']:.0%}"),
                "" if one["foreseen_error"] is None else f"{one['foreseen_error']:.2f}",
            )
            for one in self.summary()
        ]

    def table(self) -> list[tuple[str, ...]]:
        """Every crossing for people."""
        return [
            (
                *(row["task"], row["gap"], f"{row['unadapted']:.3f}", f"{row['adapted']:.3f}"),
                "" if row["foreseen"] is None else f"{row['foreseen']:.3f}",
                *(row["taken"], row["verdict"]),
            )
            for row in self.rows()
        ]

    def to_markdown(self, command: str) -> str:
        """The page."""
        return (
            "# Random gaps\n\n"
            f"Made by `{command}`, commit {self.commit}; figures in [survey.json](survey.json). Normalised scores "
            f"(expert in its simulator = 1, doing nothing there = 0), {EPISODES} evaluation episodes. Every gap is "
            "drawn at random, two to five dials of it (`random:SEED`, see [gaps.md](../gaps.md)), and crossed once. "
            f"Helps, hurts: by more than {WORTH}. Foreseen to: how far the score foreseen in rehearsal is from the one "
            "achieved (median)."
            f"\n\n{markdown(SUMMARY, self.summary_table())}\n\n![Random gaps](survey.svg)\n\n"
            f"{markdown(COLUMNS, self.table())}\n"
        )


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
    watch: Callable[[Result], None],
) -> Survey:
    """Cross random `gaps`, by their seeds, on each of `tasks`; what is complete in `out` is taken as it is.

    What there is so far is always in `results`: survey.json, .md and .svg.
    """
    if not gaps or gaps[0] < 0:
        raise Problem("a survey needs at least one gap, and they begin at 0")
    for task in tasks:
        load_task(task)
    check_tree(out)
    configs = [
        Config(task, f"random:{number}", method, samples, seed=number, evaluation_episodes=EPISODES)
        for task in tasks
        for number in gaps
    ]
    units = [
        Unit(f"{one.task}, {one.gap}", one, out / folder_name(one.task, one.gap, method, samples), traces=False)
        for one in configs
    ]
    found: dict[str, Result] = {}

    def so_far() -> Survey:
        return Survey(tuple(found[unit.name] for unit in units if unit.name in found))

    def deliver(unit: Unit, result: Result) -> None:
        found[unit.name] = result
        done = so_far()
        kept = {"command": command, "commit": done.commit, "summary": done.summary(), "rows": done.rows()}
        write_json(results / "survey.json", kept)
        write_whole(results / "survey.md", done.to_markdown(command).encode())
        plot_survey({task: done.rows(task) for task in done.tasks}, results / "survey.svg")
        watch(result)

    run_units(units, deliver, workers=workers)
    return so_far()


def _row(result: Result) -> dict[str, Any]:
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


def _summary(task: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    apart = [abs(row["foreseen"] - row["adapted"]) for row in rows if row["foreseen"] is not None]
    return {
        "task": task,
        "gaps": len(rows),
        "unadapted": float(np.median([row["unadapted"] for row in rows])),
        "adapted": float(np.median([row["adapted"] for row in rows])),
        "helps": float(np.mean([row["verdict"] == "helps" for row in rows])),
        "hurts": float(np.mean([row["verdict"] == "hurts" for row in rows])),
        "foreseen_error": float(np.median(apart)) if apart else None,
    }
