"""The study of replies that are taken in the order of their arrival."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.cli.output import print_json, print_table, stderr
from isthmus.core import check_range
from isthmus.core.command import command_of

FIRMWARE = {"in order of arrival": ("arrival-order",), "by their id": ()}
"""How the reference firmware takes replies, and the bug that makes it do so."""


@dataclass(frozen=True)
class Story:
    """Run the reference firmware with replies taken in order of arrival, and by id, while motors reply ever later.

    Example: `isthmus firmware story --out docs/results`

    A study that was interrupted goes on where it was.
    """

    seeds: int = 5
    """Runs behind each point."""
    out: Path = Path()
    """Folder for firmware-story.json and firmware-story.png."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, write after each run, draw and print."""
        from isthmus.core.commit import commits_of
        from isthmus.experiments.plot_firmware import plot_story
        from isthmus.firmware.story import LATEST_MS
        from isthmus.io import read_json, write_json

        check_range("seeds", self.seeds, 1, 1000)
        path = self.out / "firmware-story.json"
        stored: dict[str, Any] = read_json(path).get("runs", {}) if path.exists() else {}
        wanted = [(way, late, seed) for way in FIRMWARE for late in LATEST_MS for seed in range(self.seeds)]
        done = {name: stored[name] for name in (_name(*one) for one in wanted) if name in stored}
        command = command_of(("firmware", "story"), {"seeds": self.seeds})

        def figures() -> dict[str, Any]:
            return {"command": command, "commit": commits_of(done.values()), "latest_ms": list(LATEST_MS), "runs": done}

        for one in wanted:
            if (name := _name(*one)) not in done:
                done[name] = _run(*one)
                write_json(path, figures())
                stderr.print(f"[{len(done):>2}/{len(wanted)}] {name}: {done[name]['torque_step_rms']:.3f} N m a ms")
        write_json(path, figures())
        runs = {
            way: [[done[_name(way, late, seed)] for seed in range(self.seeds)] for late in LATEST_MS]
            for way in FIRMWARE
        }
        plot_story(LATEST_MS, runs, self.out / "firmware-story.png")
        if self.json:
            print_json(figures())
        else:
            _print(LATEST_MS, runs)


def _name(way: str, latest_ms: float, seed: int) -> str:
    return f"{way}/{latest_ms:g}/{seed}"


def _run(way: str, latest_ms: float, seed: int) -> dict[str, Any]:
    from isthmus.core.commit import current_commit
    from isthmus.firmware.board import load_board
    from isthmus.firmware.elf import read_elf
    from isthmus.firmware.reference import build_reference
    from isthmus.firmware.robot import FOLDER
    from isthmus.firmware.story import tell

    board = load_board(FOLDER / "quadruped.toml")
    told = tell(board, read_elf(build_reference(FIRMWARE[way])), latest_ms, seed)
    return {**told.to_json(), "commit": current_commit()}


def _print(latest_ms: tuple[float, ...], runs: dict[str, list[list[dict[str, Any]]]]) -> None:
    import numpy as np

    rows = [
        (
            f"replies {way}",
            f"{late:g}",
            f"{np.median([run['torque_step_rms'] for run in seeds]):.3f}",
            f"{np.median([run['height_m'] for run in seeds]):.3f}",
            f"{sum(run['fell'] for run in seeds)} of {len(seeds)}",
        )
        for way, by_delay in runs.items()
        for late, seeds in zip(latest_ms, by_delay, strict=True)
    ]
    columns = ("firmware", "latest reply ms ", "torque change N m a ms ", "height m ", "fell ")
    print_table("motors reply after 0.4 ms to ...", columns, rows)
