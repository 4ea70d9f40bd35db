"""Rebuild a report page."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from isthmus.cli.output import print_json, stdout


@dataclass(frozen=True)
class Report:
    """Rebuild the report page of a run.

    Example: `isthmus report runs/r0`

    Example: `isthmus report runs/lamp --task my_robot.py`

    Nothing in a run folder is executed. A robot file is Python code: name it, if the run was made with one.
    """

    run_folder: Positional[Path]
    """Folder of a finished run."""
    video: bool = True
    """Draw the video in it."""
    task: str | None = None
    """Robot file that the run was made with. It is Python code and is run."""
    trust: bool = False
    """Run whatever robot file the folder names: only for folders that you made yourself."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Write the page and say where it is."""
        from isthmus.report import write_report
        from isthmus.transfer import RunFolder

        path = write_report(RunFolder(self.run_folder), video=self.video, task=self.task, trust=self.trust)
        if self.json:
            print_json({"report": str(path)})
        else:
            stdout.print(f"report: {path}", soft_wrap=True)
