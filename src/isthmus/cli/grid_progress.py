"""The progress of an experiment, on stderr."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from isthmus.cli.output import started_late, stderr
from isthmus.experiments.grid import Progress, Watch
from isthmus.transfer import Result

DAY = 24 * 3600.0
"""Seconds over which the time left is estimated: cells may take hours."""


@contextmanager
def grid_progress(title: str) -> Generator[Watch[Any]]:
    """Print a line for each cell; on a terminal, show a bar and the time left below them."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar: list[TaskID] = []
    with started_late(
        Bars(*columns, console=stderr, disable=not stderr.is_terminal, speed_estimate_period=DAY)
    ) as bars:

        def watch(progress: Progress[Any]) -> None:
            done = len(progress.found)
            if not bar:
                bar.append(bars.add_task(title, total=progress.total, completed=done))
                bars.start()
            bars.update(bar[0], completed=done)
            if progress.latest is not None:
                text = f"{progress.latest.name}: {result_text(progress.found[progress.latest.file])}"
                stderr.print(f"{done} of {progress.total}: {text}", soft_wrap=True, emoji=False)

        yield watch


def result_text(result: Result | dict[str, Any]) -> str:
    """The score of a cell before and after adaptation, what it says of itself, or why there is none."""
    if isinstance(result, Result):
        result = {"unadapted": result.normalised_unadapted, "normalised": result.normalised_adapted}
    if "normalised" not in result:
        return str(result.get("problem", result.get("text", "done")))
    before = f"{result['unadapted']:.3f} -> " if "unadapted" in result else ""
    return f"{before}{result['normalised']:.3f}"
