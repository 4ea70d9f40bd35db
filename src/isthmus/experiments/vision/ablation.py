"""The paper's ablations: leave out one randomisation at a time, and measure on path-traced pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import unknown_name
from isthmus.core.commit import current_commit
from isthmus.experiments.page import publish
from isthmus.io import read_json, write_json
from isthmus.vision.localiser.finish import finish, score_photographs
from isthmus.vision.localiser.settings import TrainSettings
from isthmus.vision.localiser.train import Progress, train
from isthmus.vision.randomise import Randomise
from isthmus.vision.ranges import Range
from isthmus.vision.stage.draw import CONDITIONS

FULL = "everything"
VARIANTS: dict[str, Callable[[Randomise], Randomise]] = {
    FULL: lambda full: full,
    "no noise": lambda full: replace(full, noise=Range(0, 0)),
    "fixed camera": lambda full: replace(full, camera=(0, 0, 0), camera_angle=0, field_of_view=Range(1, 1)),
    "no distractors": lambda full: replace(full, distractors=Range(0, 0)),
    "no occlusion": lambda full: replace(full, occluded=0),
    "40 textures": lambda full: replace(full, textures=40),
    "4 textures": lambda full: replace(full, textures=4),
}
"""What is left out in training. Pictures that it is measured on are always the same."""
PAPER = {
    FULL: "1.3 / 1.8 / 2.4",
    "no noise": "1.4 / 1.9 / 2.4",
    "fixed camera": "2.0 / 2.4 / 2.9",
    "no distractors": "1.5 / 7.2 / 7.4",
}
"""Errors in cm that the paper prints: alone, with distractors, occluded."""
FRACTIONS = (0.25,)
"""Shares of the images, with everything."""


@dataclass(frozen=True)
class Cell:
    """One training run of the study."""

    variant: str
    seed: int
    settings: TrainSettings

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.variant.replace(' ', '-')}-{self.seed}"


def cells_of(settings: TrainSettings, seeds: int, only: Sequence[str] = ()) -> list[Cell]:
    """All runs, or those of the variants that are named: every variant of a seed before the next seed."""
    made: list[Cell] = []
    for seed in range(seeds):
        with_seed = replace(settings, seed=seed)
        for name, change in VARIANTS.items():
            made.append(Cell(name, seed, replace(with_seed, randomise=change(settings.randomise))))
        for share in FRACTIONS:
            fewer = replace(with_seed, images=int(share * settings.images), minutes=share * settings.minutes)
            made.append(Cell(f"{share:.0%} of the images", seed, fewer))
    names = list(dict.fromkeys(one.variant for one in made))
    for name in only:
        if name not in names:
            raise unknown_name("kind of training", name, names)
    return [one for one in made if not only or one.variant in only]


def run_cell(
    cell: Cell,
    folder: Path,
    photographs: Path,
    half: str,
    workers: int,
    report: Callable[[Progress], None],
    judged: int,
) -> dict[str, Any]:
    """Train and measure, or read what was measured before; goes on where it was stopped."""
    done = folder / "cells" / f"{cell.name}.json"
    if done.is_file():
        return read_json(done)
    place = folder / "runs" / cell.name
    train(cell.settings, place, workers, 1, report)
    results, _ = finish(cell.settings, place, lambda _: None, judged)
    figures, _ = score_photographs(place, photographs, half, lambda _: None)
    found = {
        "variant": cell.variant,
        "seed": cell.seed,
        "images": results["images"],
        "renderings": results["renderings"],
        "photographs": figures,
        "commit": current_commit(),
    }
    write_json(done, found)
    return found


def table_of(cells: Sequence[dict[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A row a variant: median error in cm and share of right objects for each condition, mean and spread over seeds."""
    rows: list[tuple[str, ...]] = []
    for variant in dict.fromkeys(one["variant"] for one in cells):
        of_variant = [one for one in cells if one["variant"] == variant]
        said = [variant, str(len(of_variant))]
        for condition in CONDITIONS:
            figures = [one["photographs"][condition] for one in of_variant]
            error = np.array([one["median_cm"] for one in figures])
            right = np.array([one["right"] for one in figures])
            spread = f" ± {error.std(ddof=1):.2f}" if len(error) > 1 else ""
            said += [f"{error.mean():.2f}{spread}", f"{right.mean():.2f}"]
        rows.append((*said, PAPER.get(variant, "")))
    figures = [f"{condition}{figure} " for condition in CONDITIONS for figure in (", cm", ", right")]
    return ("trained with", "seeds ", *figures, "the paper's cm "), rows


def publish_ablation(folder: Path, cells: Sequence[dict[str, Any]], command: str) -> None:
    """Write ablation.json and ablation.md."""
    columns, rows = table_of(cells)
    lines = [f"| {' | '.join(one.strip() for one in columns)} |", f"|{'---|' * len(columns)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    about = (
        f"Made by `{command}`. Median error and share of right objects on path-traced pictures, mean ± standard "
        f"deviation over training seeds; {max(one['images'] for one in cells):,} images unless the row says less. The "
        "paper's are errors of real objects, in the same order of conditions."
    )
    text = f"# Vision: what each randomisation is worth\n\n{about}\n\n{chr(10).join(lines)}\n"
    publish(folder, "ablation", {"command": command, "cells": list(cells)}, text)
