"""Expert training as it happens, on stderr."""

import math
import time
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from isthmus.cli.output import started_late, stderr
from isthmus.experts.settings import TrainSettings

QUIET_SECONDS = 30.0
"""Between two lines when nobody watches a terminal."""


def train_with_progress(
    task_name: str, path: Path, settings: TrainSettings, seed: int, episodes: int, *, resume: bool, start: Path | None
) -> dict[str, Any]:
    """Train an expert, write it to `path` with its provenance, and return the provenance."""
    from isthmus.experts.make import make_expert

    columns = (
        TextColumn("training {task.fields[name]}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("steps  return {task.fields[recent]}"),
        TimeRemainingColumn(),
    )
    with started_late(Progress(*columns, console=stderr)) as progress:
        bar = progress.add_task("", total=settings.steps, name=task_name, recent="-")

        began, last_report = time.monotonic(), 0.0
        at_first: int | None = None

        def report(steps: int, recent: float) -> None:
            nonlocal last_report, at_first
            at_first = steps if at_first is None else at_first
            text = "-" if math.isnan(recent) else f"{recent:.2f}"
            progress.start()
            progress.update(bar, completed=steps, recent=text)
            now = time.monotonic()
            if not stderr.is_terminal and now - last_report > QUIET_SECONDS:
                last_report = now
                stderr.print(f"{steps} steps: return {text}, {(steps - at_first) / (now - began):.0f} steps/s")

        return make_expert(task_name, path, settings, seed, episodes, report, resume=resume, start=start)
