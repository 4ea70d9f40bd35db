"""Several gaps on several robots, each from several seeds: where adaptation helps, and where it does not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from isthmus.core import Problem, unknown_name
from isthmus.data import write_json, write_whole
from isthmus.methods import MethodSettings
from isthmus.studies.seeds import SeedStudy, study_seeds
from isthmus.transfer import Config, Result, folder_name

NOISE = 0.01
"""Differences below this say nothing either way."""


def _crossings(
    task: str, samples: int, rounds: int, methods: dict[str, tuple[tuple[str, int], ...]]
) -> tuple[Config, ...]:
    """One for each method's gaps and histories."""
    return tuple(
        Config(
            task,
            gap,
            method,
            samples=samples,
            round_samples=samples // rounds,
            evaluation_episodes=50,
            settings=MethodSettings(history=history),
        )
        for method, gaps in methods.items()
        for gap, history in gaps
    )


REACHER = (("tilt=45", 1), ("armature=2", 1), ("torque-scale=0.6", 1), ("backlash=0.2", 2), ("delay=2", 3))
CROSSINGS = {
    "reacher": _crossings("reacher", 2000, 8, {"inverse": REACHER, "explained": REACHER}),
    "hopper": _crossings(
        "hopper",
        2000,
        2,
        {
            "inverse": (("mass=1.2", 2),),
            "explained": (
                ("gravity=1.2", 2),
                ("mass=1.2", 2),
                ("torque-scale=0.9", 2),
                ("motor-noise=0.2,noise-correlation=1", 2),
            ),
        },
    ),
    "half-cheetah": _crossings(
        "half-cheetah",
        2000,
        2,
        {
            "inverse": (("mass=1.3", 1),),
            "explained": (
                ("gravity=1.2", 2),
                ("mass=1.3", 2),
                ("torque-scale=0.7", 2),
                ("armature=2", 2),
            ),
        },
    ),
    "humanoid": _crossings(
        "humanoid",
        2000,
        1,
        {"explained": (("gravity=1.1", 1), ("torque-scale=0.8", 1), ("mass=1.1", 1))},
    ),
}
"""What is surveyed, by task."""


@dataclass(frozen=True)
class Survey:
    """The studies of a survey."""

    studies: tuple[SeedStudy, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row a crossing: median over seeds before and after, the worst seed, and whether it helped."""
        found: list[dict[str, Any]] = []
        for study in self.studies:
            figures = study.to_json()
            before, after = figures["normalised_unadapted"], figures["normalised_adapted"]
            gain = after["median"] - before["median"]
            found.append(
                {
                    "task": study.config.task,
                    "gap": study.config.gap,
                    "method": study.config.method,
                    "history": study.config.settings.history,
                    "samples": study.config.samples,
                    "seeds": len(study.results),
                    "unadapted": before["median"],
                    "adapted": after["median"],
                    "worst": after["worst"],
                    "verdict": "helps" if gain > NOISE else "hurts" if gain < -NOISE else "no difference",
                }
            )
        return found

    def to_markdown(self) -> str:
        """The table."""
        lines = [
            "| task | gap | method | history | samples | unadapted | adapted | worst seed | |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for row in self.rows():
            figures = " | ".join(f"{row[name]:.3f}" for name in ("unadapted", "adapted", "worst"))
            named = " | ".join(str(row[name]) for name in ("task", "gap", "method", "history", "samples"))
            lines.append(f"| {named} | {figures} | {row['verdict']} |")
        return "\n".join(lines) + "\n"


def survey(
    tasks: Sequence[str], seeds: int, out: Path, workers: int, watch: Callable[[Config, Result], None]
) -> Survey:
    """Run every crossing of `tasks`; what is complete in `out` is taken as it is. Writes survey.json and survey.md."""
    for task in tasks:
        if task not in CROSSINGS:
            raise unknown_name("surveyed task", task, CROSSINGS)
    if seeds < 1:
        raise Problem("a survey needs at least one seed")
    studies: list[SeedStudy] = []
    for config in (config for task in tasks for config in CROSSINGS[task]):
        folder = out / folder_name(config.task, config.gap, config.method)
        studies.append(study_seeds(config, range(seeds), folder, workers, partial(watch, config)))
        done = Survey(tuple(studies))
        write_json(out / "survey.json", done.rows())
        write_whole(out / "survey.md", done.to_markdown().encode())
    return Survey(tuple(studies))
