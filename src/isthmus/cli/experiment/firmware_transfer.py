"""Adapt a policy to a robot whose firmware drives weak motors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.cli.output import print_json, print_table, stderr
from isthmus.core import check_range
from isthmus.core.command import command_of

NAME, TASK = "firmware-transfer", "leg-squat"
METHODS = ("inverse", "correction", "residual-action", "auto")
"""The paper's network in both forms, the simplest method, and the default."""
WEAK = '\n[fault]\n"*.strength" = {strength}\n'
EPISODES = 50


@dataclass(frozen=True)
class FirmwareTransfer:
    """Let a leg squat whose firmware drives motors weaker than those of the simulator, by several methods.

    Example: `isthmus experiment firmware-transfer --seeds 5 --results docs/results`

    A study that was stopped goes on with the same command. Needs isthmus[firmware].
    """

    strength: float = 0.8
    """Of the motors, as a share of what the simulator takes them for."""
    samples: int = 1000
    """Steps that may be taken on the target."""
    seeds: int = 5
    """How many seeds: 0, 1, 2, ..."""
    out: Path = Path("runs/firmware-transfer")
    """Folder of the runs."""
    results: Path | None = None
    """Folder of firmware-transfer.json; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Run what is missing, write after each run, and print."""
        from isthmus.core.commit import commits_of
        from isthmus.firmware.robot import FOLDER
        from isthmus.io import write_json, write_whole

        check_range("seeds", self.seeds, 1, 1000)
        check_range("strength", self.strength, 0.1, 1.0)
        self.out.mkdir(parents=True, exist_ok=True)
        board = self.out / "weak-leg.toml"
        write_whole(board, ((FOLDER / "leg.toml").read_text() + WEAK.format(strength=self.strength)).encode())
        options = {"strength": self.strength, "samples": self.samples, "seeds": self.seeds}
        command, rows = command_of(("experiment", NAME), options), list[dict[str, Any]]()
        wanted = [(method, seed) for seed in range(self.seeds) for method in METHODS]

        def told() -> dict[str, Any]:
            return {"command": command, "commit": commits_of(rows), "strength": self.strength, "rows": rows}

        path = (self.results or self.out) / f"{NAME}.json"
        for method, seed in wanted:
            rows.append(self._row(board, method, seed))
            write_json(path, told())
            row = rows[-1]
            scores = f"{row['normalised_unadapted']:.3f} -> {row['normalised_adapted']:.3f}"
            stderr.print(f"[{len(rows):>2}/{len(wanted)}] {method}, seed {seed}: {scores}")
        if self.json:
            print_json(told())
        else:
            _print(rows)

    def _row(self, board: Path, method: str, seed: int) -> dict[str, Any]:
        from isthmus.cli.firmware.target import emulated
        from isthmus.transfer import Config, RunFolder, run_transfer

        target = f"firmware:{board}"
        config = Config(
            TASK, method=method, samples=self.samples, seed=seed, environment=target, evaluation_episodes=EPISODES
        )
        folder = RunFolder(self.out / f"{method}-{self.samples}-{seed}")
        result = run_transfer(config, folder, resume=True, emulated=emulated)
        lost = result.expert - result.unadapted
        return {
            "method": method,
            "seed": seed,
            "source": result.expert,
            "unadapted": result.unadapted,
            "adapted": result.adapted,
            "normalised_unadapted": result.normalised_unadapted,
            "normalised_adapted": result.normalised_adapted,
            "recovered": (result.adapted - result.unadapted) / lost,
            "commit": result.versions.get("commit"),
        }


def _print(rows: list[dict[str, Any]]) -> None:
    import numpy as np

    table: list[tuple[str, ...]] = []
    for method in METHODS:
        of_method = [row for row in rows if row["method"] == method]
        cells = [[row[key] for row in of_method] for key in ("normalised_unadapted", "normalised_adapted", "recovered")]
        table.append((method, *(f"{np.median(one):.3f} ({min(one):.3f} to {max(one):.3f})" for one in cells)))
    columns = ("method", "unadapted ", "adapted ", "share of the loss recovered ")
    print_table("normalised score, median (range) over seeds", columns, table)
