"""Show what is in a log."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from isthmus.cli.output import print_json, print_table, stdout

if TYPE_CHECKING:
    from isthmus.logs import Log
    from isthmus.logs.inspect import SeriesFacts


@dataclass(frozen=True)
class Inspect:
    """Show the series of a robot's log: rates, jitter, gaps, clocks and what they seem to measure.

    Reads rosbag 1 and 2, MCAP, LeRobot folders, CSV, npz and JSON. Nothing in a log is executed.

    Example: `isthmus logs inspect walk.bag`

    Example: `isthmus logs inspect run1.mcap run2.csv --out pictures`
    """

    files: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Logs: files, or folders of a bag, a data set or of CSV files."""
    out: Path | None = None
    """Folder for a picture of each log, NAME.svg."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Read, print and draw."""
        from isthmus.core import Problem
        from isthmus.logs import read_log
        from isthmus.logs.inspect import inspect_series

        if not self.files:
            raise Problem("name at least one log: isthmus logs inspect FILE")
        logs = [read_log(path) for path in self.files]
        facts = [[inspect_series(one) for one in log.series.values()] for log in logs]
        if self.json:
            print_json([_as_json(log, rows) for log, rows in zip(logs, facts, strict=True)])
        else:
            for log, rows in zip(logs, facts, strict=True):
                _print(log, rows)
        if self.out is not None:
            from isthmus.experiments.log_plot import plot_log

            for log, rows in zip(logs, facts, strict=True):
                picture = self.out / f"{log.path.stem}.svg"
                plot_log(log, rows, picture)
                if not self.json:
                    stdout.print(f"picture: {picture}", soft_wrap=True)


def _as_json(log: "Log", rows: "list[SeriesFacts]") -> dict[str, object]:
    from isthmus.logs.inspect import complaints

    return {
        "path": str(log.path),
        "format": log.format,
        "notes": list(log.notes),
        "meta": dict(log.meta or {}),
        "series": [{**one.to_json(), "remarks": complaints(one)} for one in rows],
    }


def _print(log: "Log", rows: "list[SeriesFacts]") -> None:
    from isthmus.logs.inspect import complaints

    seconds = max(one.seconds for one in rows)
    print_table(
        f"{log.path}: {log.format}, {seconds:.1f} s",
        ("series", "size ", "Hz ", "from ", "to ", "seems to be"),
        [
            (
                one.name,
                f"{one.samples}×{one.components}",
                f"{one.rate:.4g}",
                f"{one.least:.3g}",
                f"{one.greatest:.3g}",
                ", ".join(part for part in (one.guess.kind, one.guess.unit) if part),
            )
            for one in rows
        ],
    )
    remarks: dict[str, list[str]] = {}
    for one in rows:
        if one.guess.unit in ("deg", "deg/s", "ticks"):
            why = one.guess.reason if one.guess.reason.startswith("by ") else f"it {one.guess.reason}"
            remarks.setdefault(f"taken for {one.guess.unit}: {why}", []).append(one.name)
        for remark in complaints(one):
            remarks.setdefault(remark, []).append(one.name)
    for remark, names in remarks.items():
        stdout.print(f"{'all series' if len(names) == len(rows) else ', '.join(names)}: {remark}", soft_wrap=True)
    for note in log.notes:
        stdout.print(f"note: {note}", soft_wrap=True)
