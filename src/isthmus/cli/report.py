"""Rebuild a report page."""

from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from isthmus.cli.output import print_json, stdout


@dataclass(frozen=True)
class Report:
    """Rebuild the report page of a run.

    Example: `isthmus report runs/r0`
    """

    run_folder: Positional[Path]
    """Folder of a finished run."""
    video: bool = True
    """Draw the video in it."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Write the page and say where it is."""
        from isthmus.report import write_report
        from isthmus.transfer import RunFolder

        path = write_report(RunFolder(self.run_folder), video=self.video)
        if self.json:
            print_json({"report": str(path)})
        else:
            stdout.print(f"report: {path}", soft_wrap=True)
