"""Make path-traced pictures."""

from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from isthmus.cli.output import print_json, started_late, stderr, stdout
from isthmus.cli.vision.arguments import SceneOptions, SceneOptionsArgument


@dataclass(frozen=True)
class Photograph:
    """Make pictures by a path tracer, a camera that no localiser is trained on.

    There are three conditions: the object alone, with distractors, and partly hidden by one. Choose settings by the
    validation half, and score a localiser once on the test half. The same command goes on where it was stopped.

    Example: `isthmus vision photograph table --object cube --images 200 --out runs/photographs`
    """

    scene: SceneOptionsArgument = field(default_factory=SceneOptions)
    half: str = "validation"
    """validation or test."""
    images: int = 200
    """Pictures of each condition."""
    samples: int = 16
    """Rays a pixel."""
    out: Path = Path("runs/photographs")
    """Folder for the pictures: OUT/HALF/CONDITION/NUMBER.jpg, and their labels beside them as JSON."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Draw scenes, trace and save them."""
        from isthmus.core import check_range
        from isthmus.vision.stage.draw import CONDITIONS
        from isthmus.vision.tracer.photographs import make_photographs

        check_range("images", self.images, 1, 100_000)
        check_range("samples", self.samples, 1, 65_536)
        scene = self.scene.read()
        columns = (
            TextColumn("{task.description:<12}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with started_late(Progress(*columns, console=stderr)) as progress:
            bars = {name: progress.add_task(name, total=self.images) for name in CONDITIONS}

            def report(condition: str, done: int) -> None:
                progress.start()
                progress.update(bars[condition], completed=done)

            make_photographs(scene, self.half, self.images, self.out, self.samples, report)
        if self.json:
            print_json({"folder": str(self.out / self.half), "images": dict.fromkeys(CONDITIONS, self.images)})
        else:
            stdout.print(f"pictures: {self.out / self.half}", soft_wrap=True)
