"""Expert training as it happens, on stderr."""

import math
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from isthmus.cli.output import stderr
from isthmus.experts.settings import TrainSettings


def train_with_progress(
    task_name: str, path: Path, settings: TrainSettings, seed: int, episodes: int
) -> dict[str, Any]:
    """Train an expert, write it to `path` with its provenance, and return the provenance."""
    from isthmus.experts.make import make_expert

    columns = (
        TextColumn("training {task.fields[name]}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("steps  return {task.fields[recent]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr) as progress:
        bar = progress.add_task("", total=settings.steps, name=task_name, recent="-")

        def report(steps: int, recent: float) -> None:
            progress.update(bar, completed=steps, recent="-" if math.isnan(recent) else f"{recent:.2f}")

        return make_expert(task_name, path, settings, seed, episodes, report)
