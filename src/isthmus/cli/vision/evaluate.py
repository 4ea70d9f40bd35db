"""Score a localiser on pictures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, print_table, stderr, stdout
from isthmus.cli.vision.arguments import LOCALISER
from isthmus.core import Problem
from isthmus.core.command import command_of


@dataclass(frozen=True)
class EvaluateLocaliser:
    """Score a trained localiser on path-traced pictures, or on photographs with known places.

    Choose settings by the validation half. Score the test half, and photographs, once. Several localisers, such as
    those of several training seeds, are scored on the same pictures, with means and standard deviations.

    Example: `isthmus vision evaluate runs/cube --photographs runs/photographs --half test --out test.json`

    Example: `isthmus vision evaluate runs/cube-0 runs/cube-1 runs/cube-2 --photographs runs/photographs`

    Example: `isthmus vision evaluate runs/cube --labels photos/labels.csv --calibration camera.json`
    """

    localisers: Annotated[Positional[tuple[Path, ...]], arg(metavar="LOCALISER", help=LOCALISER)]
    photographs: Path | None = None
    """Folder of path-traced pictures (`isthmus vision photograph`)."""
    half: str = "validation"
    """validation or test."""
    labels: Path | None = None
    """CSV file with the columns picture, x, y, z, beside the photographs that it names."""
    calibration: Path | None = None
    """The camera's file of these photographs."""
    out: Path | None = None
    """File for the figures, as JSON."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Locate, compare, print."""
        from isthmus.experiments.vision.over_seeds import COLUMNS, over_localisers, rows_over
        from isthmus.io import write_json

        if (self.photographs is None) == (self.labels is None):
            raise Problem("give --photographs for path-traced pictures, or --labels for photographs with known places")
        if not self.localisers:
            raise Problem("name a localiser: the folder of a trained one, or one that ships, such as table-cube")
        score = self._labelled if self.labels is not None else self._path_traced
        every = {str(one): score(one) for one in self.localisers}
        figures: dict[str, Any] = next(iter(every.values()))
        if len(every) > 1:
            figures = {"localisers": every, "over": over_localisers(list(every.values()))}
            if self.photographs is not None and not self.json:
                print_table("over all localisers", COLUMNS, rows_over(figures["over"], len(every)))
        options = {"photographs": self.photographs, "labels": self.labels, "calibration": self.calibration}
        half = self.half if self.photographs is not None else None
        figures["command"] = command_of(
            ("vision", "evaluate", *self.localisers), {**options, "half": half, "out": self.out}
        )
        if self.out is not None:
            write_json(self.out, figures)
        if self.json:
            print_json(figures)

    def _path_traced(self, localiser: Path) -> dict[str, Any]:
        from isthmus.experiments.vision.page import BRIEF, brief_rows
        from isthmus.vision.localiser.finish import score_photographs

        folder = self.photographs or Path()
        figures, _ = score_photographs(localiser, folder, self.half, stderr.print)
        if not self.json:
            print_table(f"{localiser} on {folder}, {self.half} half", BRIEF, brief_rows(figures))
            said = figures["confidence"]["calibration_error"]
            stdout.print(f"\nexpected calibration error of the confidence: {said:.3f}")
        return figures

    def _labelled(self, localiser: Path) -> dict[str, Any]:
        from isthmus.vision.camera import Camera
        from isthmus.vision.localiser.labelled import read_labels, score_labelled

        if self.labels is None or self.calibration is None:
            raise Problem("photographs need their camera: give --calibration (see `isthmus vision calibrate`)")
        figures = score_labelled(localiser, read_labels(self.labels), Camera.load(self.calibration))
        if not self.json:
            stdout.print(
                f"{localiser}, {figures['n']} photographs: mean {figures['mean_cm']:.2f} cm, median "
                f"{figures['median_cm']:.2f} cm, {figures['abstained']} not sure (counted as half the picture's width)",
                soft_wrap=True,
            )
        return figures
