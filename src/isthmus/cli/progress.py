"""A run as it happens, on stderr."""

from collections.abc import Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from isthmus.cli.output import started_late, stderr
from isthmus.transfer import Event
from isthmus.transfer.events import Glimpse

DOING = {
    "baseline": "scoring expert and unadapted policy",
    "collect": "collecting on the target",
    "fit": "fitting the inverse model",
    "evaluate": "evaluating",
    "done": "done",
}


@contextmanager
def crossing_progress() -> Generator["CrossingDisplay"]:
    """Show a bar of target samples, what is going on, and the score so far."""
    columns = (
        TextColumn("{task.description:<36}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("samples  {task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
    )
    with started_late(Progress(*columns, console=stderr)) as progress:
        yield CrossingDisplay(progress)


class CrossingDisplay:
    """Turns events into what is on the screen."""

    def __init__(self, progress: Progress) -> None:
        """Draw on `progress`."""
        self._progress = progress
        self._bar = progress.add_task(DOING["baseline"], total=None, detail="")
        self._score = ""

    def look(self, glimpse: Glimpse) -> None:
        """Show how a robot is moving."""
        self._progress.start()
        off = "" if glimpse.distance is None else f"off by {glimpse.distance:.1%}, "
        self._progress.update(
            self._bar,
            detail=f"{self._score}  {off}{glimpse.rate:.1f} Hz, "
            f"{glimpse.missed} of {glimpse.steps} deadlines missed, {glimpse.seconds / 60:.1f} min  (space stops)",
        )

    def __call__(self, event: Event) -> None:
        """Show `event`."""
        self._progress.start()
        if event.normalised is not None:
            self._score = f"{event.normalised:.3f} of the expert"
            if event.phase in ("baseline", "evaluate") and not self._progress.console.is_terminal:
                stderr.print(f"{event.samples:>7} samples: {self._score}")
        fitting = f"  pass {event.epoch}, loss {event.loss:.4f}" if event.phase == "fit" else ""
        self._progress.update(
            self._bar,
            total=event.budget,
            completed=event.samples,
            description=DOING[event.phase],
            detail=self._score + fitting,
        )
