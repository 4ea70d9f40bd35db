"""Grasp where a localiser says."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional, arg

from isthmus.cli.output import print_json, print_table, started_late, stderr, stdout
from isthmus.cli.vision.arguments import LOCALISER


@dataclass(frozen=True)
class GraspTrials:
    """Let the Fetch robot pick the object among distractors where a localiser says that it is.

    The localiser is one of the `cube` or the `cylinder` of the scene `fetch`. A grasp that is not tried, because the
    localiser is not sure, counts as one that failed.

    Example: `isthmus vision grasp runs/fetch-cube --trials 40 --out runs/grasps.json --video runs/grasps.mp4`
    """

    localiser: Annotated[Positional[Path], arg(metavar="LOCALISER", help=LOCALISER)]
    trials: int = 40
    """How many grasps."""
    seed: int = 0
    """Decides the scenes."""
    out: Path | None = None
    """File for the outcomes, as JSON."""
    video: Path | None = None
    """File for a film of all grasps (.mp4): the picture, the answer in it, and the gripper."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Grasp and count."""
        from isthmus.core import check_range
        from isthmus.experiments.vision.grasp_film import GraspFilm
        from isthmus.io import write_json
        from isthmus.vision.grasp_trials import grasp_trials

        check_range("trials", self.trials, 1, 10_000)
        columns = (TextColumn("grasping"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with started_late(Progress(*columns, console=stderr)) as progress:
            bar = progress.add_task("", total=self.trials)

            def report(done: int) -> None:
                progress.start()
                progress.update(bar, completed=done)

            film = GraspFilm()
            found = grasp_trials(
                self.localiser, self.trials, self.seed, report, None if self.video is None else film.watch
            )
            if self.video is not None:
                film.save(self.video)
        if self.out is not None:
            write_json(self.out, found)
        if self.json:
            print_json(found)
            return
        print_table(
            "",
            ("", "error cm ", "yaw error deg ", "confidence ", "distractors ", ""),
            [
                (
                    str(number),
                    f"{one['error_cm']:.2f}",
                    "" if one["yaw_error_deg"] is None else f"{one['yaw_error_deg']:.1f}",
                    f"{one['confidence']:.2f}",
                    str(one["distractors"]),
                    "picked" if one["picked"] else "missed" if one["tried"] else "not sure",
                )
                for number, one in enumerate(found["rows"])
            ],
        )
        stdout.print(
            f"\n{found['picked']} of {found['trials']} picked; {found['not_sure']} not sure, "
            f"{found['wrong_object']} at the wrong object",
            soft_wrap=True,
        )
