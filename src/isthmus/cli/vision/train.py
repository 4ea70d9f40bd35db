"""Train a localiser."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.cli.vision.arguments import SceneOptions, SceneOptionsArgument, changed_options
from isthmus.core.command import command_of
from isthmus.vision.randomise import Randomise

if TYPE_CHECKING:
    from isthmus.vision.localiser.evaluate import Outcome, Trial
    from isthmus.vision.localiser.settings import TrainSettings
    from isthmus.vision.localiser.train import Progress

REPORT = "report.html"


@dataclass(frozen=True)
class TrainLocaliser:
    """Train a localiser on randomised renderings only, write it as ONNX, and report how well it does.

    Renderings are streamed from processes on all cores and never touch the disk. The same command goes on where it was
    stopped; with more --minutes it trains on.

    Example: `isthmus vision train table --object cube --minutes 60 --out runs/cube`

    Example: `isthmus vision train scene.xml --object mug --minutes 5 --photographs runs/photographs`
    """

    scene: SceneOptionsArgument = field(default_factory=SceneOptions)
    randomise: Randomise = field(default_factory=Randomise)
    minutes: float = 60.0
    """How long to train, by the clock; measuring afterwards takes some minutes more."""
    images: int = 0
    """Train on so many images instead of for some time."""
    batch: int = 16
    """Images for a step."""
    rate: float = 1.5e-3
    """Largest learning rate."""
    widths: tuple[int, int, int, int] = (16, 32, 64, 96)
    """Channels of the networks at strides 2, 4, 8 and 16."""
    backbone: bool = False
    """Train only what is behind a frozen network that was trained on photographs (isthmus[backbone]), for minutes-long
    runs."""
    start: Path | None = None
    """Folder of a localiser, of any scene and object, whose weights to begin with; or the name of one that ships."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of training; auto takes bfloat16 where a short trial finds this processor to be faster at it."""
    samples: int = 0
    """Samples a pixel in renderings; 4 smooths edges, at more than twice the cost."""
    workers: int = 0
    """Processes that render; 0 for one less than there are cores."""
    threads: int = 1
    """Threads that train."""
    judged: int = 200
    """Renderings of each condition that the figures are measured on."""
    photographs: Path | None = None
    """Folder of path-traced pictures (`isthmus vision photograph`) to measure on as well."""
    half: str = "validation"
    """Which half of them: choose by validation, and score test once."""
    seed: int = 0
    """Decides everything random."""
    out: Path = Path("runs/localiser")
    """Folder for checkpoint, ONNX files, figures and report."""
    json: bool = False
    """Print the figures as JSON only."""

    def run(self) -> None:
        """Train, finish, report."""
        from isthmus.core import check_range
        from isthmus.vision.localiser.settings import TrainSettings
        from isthmus.vision.localiser.train import train
        from isthmus.vision.samples import Frame
        from isthmus.vision.stage.scene import SceneFile
        from isthmus.vision.stream import usable_cores
        from isthmus.vision.tracer.photographs import check_photographs

        check_range("judged", self.judged, 10, 10_000)
        check_range("workers", self.workers, 0, 256)
        check_range("threads", self.threads, 1, 256)
        if self.photographs is not None:
            check_photographs(self.photographs, self.half)
        file = SceneFile(self.scene.scene, self.scene.target, self.scene.table, self.scene.camera)
        settings = TrainSettings(
            file, self.randomise, Frame(), self.minutes, self.images, self.batch, self.rate, self.widths,
            self.samples, self.seed, self.backbone, self.precision,
            None if self.start is None else str(self.start),
        )  # fmt: skip
        workers = self.workers or max(1, usable_cores() - 1)
        columns = (
            TextColumn("{task.description:<10}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %  {task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
        )
        with started_late(Bars(*columns, console=stderr)) as bars:
            bar = bars.add_task("training", total=1.0, detail="")

            def report(progress: "Progress") -> None:
                bars.start()
                bars.update(bar, completed=progress.share, detail=describe(progress))
                if progress.score is not None and not bars.console.is_terminal:
                    stderr.print(f"{progress.images:>9,} images: {_brief(progress.score)}", soft_wrap=True)

            train(settings, self.out, workers, self.threads, report)

            def say(doing: str) -> None:
                bars.start()
                bars.update(bar, description=doing)

            results = self._finish(settings, say)
        if self.json:
            print_json(results)

    def command(self) -> str:
        """The command that trains the same again."""
        options = changed_options(
            self, "batch", "rate", "widths", "backbone", "start", "precision", "samples", "judged", "photographs",
            "half", "seed",
        )  # fmt: skip
        length = {"images": self.images} if self.images else {"minutes": self.minutes}
        return command_of(("vision", "train", self.scene.scene), options | length | {"out": self.out})

    def _finish(self, settings: "TrainSettings", say: Callable[[str], None]) -> dict[str, Any]:
        from isthmus.experiments.vision import write_report
        from isthmus.experiments.vision.page import BRIEF, brief_rows
        from isthmus.io import write_json
        from isthmus.vision.localiser.finish import finish, score_photographs
        from isthmus.vision.localiser.settings import RESULTS

        results, worst = finish(settings, self.out, say, self.judged)
        figures = {"renderings": results["renderings"]}
        cases: list[tuple[str, Trial, Outcome]] = [("renderings", *pair) for pair in worst]
        if self.photographs is not None:
            name = f"path-traced pictures, {self.half} half"
            figures[name], worst = score_photographs(self.out, self.photographs, self.half, say)
            results["photographs"] = figures[name]
            cases = [(name, *pair) for pair in worst]
        command = self.command()
        results["command"] = command
        write_json(self.out / RESULTS, results)
        write_report(self.out / REPORT, results, figures, cases, command)
        if not self.json:
            for name, one in figures.items():
                print_table(f"{name}, after {results['images']:,} images", BRIEF, brief_rows(one))
            stdout.print(f"\nreport: {self.out / REPORT}", soft_wrap=True)
        return results


def describe(progress: "Progress") -> str:
    """What is shown beside the bar."""
    losses = ", ".join(f"{name} {value:.2f}" for name, value in progress.losses.items())
    return f"{progress.images:,} images, {progress.rate:.0f}/s  loss: {losses}"


def _brief(score: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {one['median_cm']:.1f} cm ({one['right']:.0%} right)"
        for name, one in score.items()
        if isinstance(one, dict) and "median_cm" in one
    )
