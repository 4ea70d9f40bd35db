"""The campaign on the reference firmware and on each of its seeded bugs, as figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.cli.output import print_json, print_table, stderr
from isthmus.core import check_range
from isthmus.core.command import command_of


@dataclass(frozen=True)
class Study:
    """Run the campaign on the clean reference firmware and on each seeded bug: what is caught, what is a false alarm.

    Example: `isthmus firmware study --out docs/results --workers 2`

    A study that was interrupted goes on where it was.
    """

    seeds: int = 10
    """Seeds of the clean firmware; each bug has one."""
    workers: int = 1
    """Processes that run side by side."""
    out: Path = Path()
    """Folder for firmware-campaign.json."""
    json: bool = False
    """Print the conclusions as JSON only."""

    def run(self) -> None:
        """Run what is missing, write after each cell, print the conclusions."""
        from isthmus.core.commit import commits_of, current_commit
        from isthmus.firmware.study import Cell, cells, commands_file, conclusions, run_study
        from isthmus.io import read_json, write_json

        check_range("seeds", self.seeds, 1, 1000)
        check_range("workers", self.workers, 1, 64)
        path, every = commands_file(self.out), cells(self.seeds)
        stored = read_json(path) if path.exists() else {}
        before: dict[str, Any] = stored.get("cells", {})
        done = {cell.name: before[cell.name] for cell in every if cell.name in before}
        left = [cell for cell in every if cell.name not in done]

        command = command_of(("firmware", "study"), {"seeds": self.seeds})

        def write() -> None:
            ordered = {one.name: done[one.name] for one in every if one.name in done}
            write_json(
                path,
                {"command": command, "commit": commits_of(done.values()), **conclusions(ordered), "cells": ordered},
            )

        def finished(cell: Cell, figures: dict[str, Any]) -> None:
            done[cell.name] = {**figures, "commit": current_commit()}
            write()
            stderr.print(f"[{len(done):>2}/{len(every)}] {cell.name}: {_brief(figures)}", soft_wrap=True)

        run_study(left, self.workers, finished)
        write()
        figures = conclusions(done)
        if self.json:
            print_json(figures)
            return
        rows = [
            (
                bug,
                ", ".join(figures["caught"].get(bug, ["not caught"]))[:60],
                one["measure"],
                _worst(one["clean"]),
                _worst(one["bug"]),
            )
            for bug, one in figures["harm"].items()
        ]
        print_table("seeded bugs", ("bug", "caught by", "harm", "clean ", "bug "), rows)
        print_table(
            "", ("clean campaigns ", "false alarms "), [(str(figures["clean_campaigns"]), str(figures["false_alarms"]))]
        )


def _brief(figures: dict[str, Any]) -> str:
    if "violated" in figures:
        names = ", ".join(figures["violated"]) or "nothing"
        count = f"{len(figures['violated'])} of {figures['cases']} cases violated"
        return f"{count} ({names[:100]}), {figures['cpu_seconds']} s"
    return f"{figures['measure']}: {_worst([figures['clean']])} clean, {_worst([figures['bug']])} with the bug"


def _worst(values: list[float | None]) -> str:
    """The largest; a processor that stopped for good is worse than any number."""
    numbers = [value for value in values if value is not None]
    return f"{max(numbers):.4g}" if len(numbers) == len(values) else "halts"
