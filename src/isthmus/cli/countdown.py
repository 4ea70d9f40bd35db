"""A long study as it happens, on stderr, with the time it will still take."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from isthmus.cli.output import started_late, stderr
from isthmus.experiments.paper.estimate import Estimate
from isthmus.experiments.paper.outcome import Outcome
from isthmus.experiments.paper.run import Progress
from isthmus.report.story import duration


@contextmanager
def countdown(title: str) -> Generator[Callable[[Progress], None]]:
    """Show each finished cell as a line; on a terminal, a bar and the time left below them."""
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with started_late(Bars(*columns, _TimeLeft(), console=stderr, disable=not stderr.is_terminal)) as bars:
        bar = bars.add_task(title, total=None, left=None, at=0.0)

        def watch(progress: Progress) -> None:
            bars.start()
            bars.update(bar, completed=progress.finished, total=progress.total, left=progress.left, at=time.monotonic())
            rows = [outcome_text(progress.latest)] if progress.latest else []
            if not stderr.is_terminal:
                rows.append(f"{progress.finished} of {progress.total} cells, {left_text(progress.left)}")
            stderr.print("; ".join(rows), markup=False, soft_wrap=True, end="\n" if rows else "")

        yield watch


class _TimeLeft(ProgressColumn):
    """Counts down from the latest estimate."""

    def render(self, task: Task) -> Text:
        """The time left by now."""
        left: Estimate | None = task.fields["left"]
        return Text(left_text(left, time.monotonic() - task.fields["at"]) if left and not task.finished else "")


def left_text(left: Estimate, since: float = 0.0) -> str:
    """The time left in words, when the estimate is `since` seconds old; what is not known is said."""
    seconds = left.seconds - since
    if left.unknown:
        known = f"more than {duration(seconds)} left" if seconds > 0 else "time left unknown"
        return f"{known}: no cell of {' or '.join(left.unknown)} is finished yet"
    if seconds > 0:
        return f"about {duration(seconds)} left"
    return "longer than expected" if left.seconds else "done"


def outcome_text(outcome: Outcome) -> str:
    """What came of a cell, in a line."""
    held = (
        "never held 3/4" if outcome.samples_to_share is None else f"held 3/4 after {outcome.samples_to_share:,} samples"
    )
    cell = f"{outcome.robot}, {outcome.gap}, {outcome.arm}, seed {outcome.seed}"
    return f"{cell}: {outcome.unadapted:.3f} -> {outcome.adapted:.3f}, {held}"
