"""Leave out randomisations."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.cli.vision.arguments import SceneOptions, SceneOptionsArgument, changed_options
from isthmus.core.command import command_of
from isthmus.vision.randomise import Randomise

if TYPE_CHECKING:
    from isthmus.vision.localiser.train import Progress


@dataclass(frozen=True)
class Ablate:
    """Train with one randomisation left out at a time, and measure what each is worth on path-traced pictures.

    The same command goes on where it was stopped.

    Example: `isthmus vision ablate table --object cube --images 200000 --seeds 3 --photographs runs/photographs`
    """

    scene: SceneOptionsArgument = field(default_factory=SceneOptions)
    randomise: Randomise = field(default_factory=Randomise)
    photographs: Path = Path("runs/photographs")
    """Folder of path-traced pictures (`isthmus vision photograph`)."""
    half: str = "validation"
    """validation or test."""
    images: int = 100_000
    """Images of each training run."""
    seeds: int = 3
    """Runs of each kind."""
    only: tuple[str, ...] = ()
    """Names of the kinds to train, such as `everything` and `no distractors`; all when not given."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of training; auto takes bfloat16 where a short trial finds this processor to be faster at it."""
    workers: int = 0
    """Processes that render; 0 for one less than there are cores."""
    judged: int = 100
    """Renderings of each condition that a run is measured on besides."""
    out: Path = Path("runs/vision-ablation")
    """Folder for the runs, their figures and the table."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, and print the table."""
        from isthmus.cli.vision.train import describe
        from isthmus.core import check_range
        from isthmus.experiments.vision.ablation import cells_of, publish_ablation, run_cell, table_of
        from isthmus.vision.localiser.settings import TrainSettings
        from isthmus.vision.stage.scene import SceneFile
        from isthmus.vision.stream import usable_cores
        from isthmus.vision.tracer.photographs import each_photograph

        check_range("images", self.images, 1_000, 10**9)
        check_range("seeds", self.seeds, 1, 100)
        check_range("judged", self.judged, 10, 10_000)
        self.scene.read()
        next(each_photograph(self.photographs, self.half))  # before hours of work
        file = SceneFile(self.scene.scene, self.scene.target, self.scene.table, self.scene.camera)
        cells = cells_of(
            TrainSettings(file, self.randomise, images=self.images, precision=self.precision), self.seeds, self.only
        )
        workers = self.workers or max(1, usable_cores() - 1)
        columns = (
            TextColumn("{task.description:<28}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[detail]}", markup=False),
            TimeElapsedColumn(),
        )
        found: list[dict[str, object]] = []
        with started_late(Bars(*columns, console=stderr)) as bars:
            bar = bars.add_task("", total=float(len(cells)), detail="")
            for number, cell in enumerate(cells):
                bars.start()
                bars.update(bar, description=cell.name, completed=float(number), detail="")

                def report(progress: "Progress", done: float = float(number)) -> None:
                    bars.update(bar, completed=done + progress.share, detail=describe(progress))

                found.append(run_cell(cell, self.out, self.photographs, self.half, workers, report, self.judged))
        options = changed_options(self, "images", "seeds", "only", "precision", "half", "photographs", "judged", "out")
        command = command_of(("vision", "ablate", self.scene.scene), options)
        publish_ablation(self.out, found, command)
        if self.json:
            print_json(found)
            return
        print_table("", *table_of(found))
        stdout.print(f"\ntable: {self.out / 'ablation.md'}", soft_wrap=True)
