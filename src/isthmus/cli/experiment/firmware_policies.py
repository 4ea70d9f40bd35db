"""Policies trained with the twin of a firmware and without it, on the firmware itself."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.cli.firmware.equipment import with_twin
from isthmus.cli.output import print_json, print_table, stderr
from isthmus.cli.policy.train import train_with_progress
from isthmus.core import check_range
from isthmus.core.command import command_of

if TYPE_CHECKING:
    from isthmus.experiments.firmware_policies import Arm

NAME = "firmware-policies"
COLUMNS = ("simulator", "prompt", "late")


@dataclass(frozen=True)
class FirmwarePolicies:
    """Train a leg to squat with the twin of its firmware and without it, and try all policies on the firmware.

    Example: `isthmus experiment firmware-policies --seeds 5 --results docs/results`

    What the host asks for arrives 10 to 40 ms late. Policies trained with whole steps of delay drawn at random are
    beside. A study that was stopped goes on with the same command. Needs isthmus[firmware,train].
    """

    seeds: int = 5
    """Training seeds: 0, 1, 2, ..."""
    steps: int | None = None
    """Environment steps of each training; those of the task's recipe when not given."""
    out: Path = Path("runs/firmware-policies")
    """Folder of the work: policies and the twin are kept there."""
    results: Path | None = None
    """Folder of firmware-policies.json and its plot; OUT when not given."""
    json: bool = False
    """Print JSON only."""

    def run(self) -> None:
        """Do what is missing, write after each policy, draw and print."""
        from isthmus.core.commit import commits_of, current_commit
        from isthmus.experiments.firmware_policies import ARMS, LINKS, SCRIPTED, TASK, record_twin, try_policy
        from isthmus.experiments.plot_firmware import plot_policies
        from isthmus.io import read_json, write_json
        from isthmus.robots import load_task

        check_range("seeds", self.seeds, 1, 1000)
        self.out.mkdir(parents=True, exist_ok=True)
        twin, path = self.out / "twin.npz", (self.results or self.out) / f"{NAME}.json"
        if not twin.exists():
            record_twin().save(twin)
        before: dict[str, Any] = read_json(path) if path.exists() else {}
        stored: dict[str, Any] = before.get("runs", {}) if before.get("steps") == self.steps else {}
        wanted = [(arm.name, seed) for arm in ARMS for seed in range(self.seeds)]
        names = [_key(SCRIPTED, seed) for seed in range(self.seeds)] + [_key(*one) for one in wanted]
        done = {name: stored[name] for name in names if name in stored}
        command = command_of(("experiment", NAME), {"seeds": self.seeds, "steps": self.steps})

        def keep(name: str, figures: dict[str, float]) -> None:
            done[name] = {**figures, "commit": current_commit()}
            write_json(path, told())
            stderr.print(f"[{len(done):>2}/{len(names)}] {name}: {figures['late']:.3f} behind a late link")

        def told() -> dict[str, Any]:
            return {
                "command": command,
                "commit": commits_of(done.values()),
                "task": TASK,
                "late": LINKS["late"],
                "arms": [SCRIPTED, *(arm.name for arm in ARMS)],
                "seeds": self.seeds,
                "steps": self.steps,
                "runs": done,
            }

        for seed in range(self.seeds):
            if (name := _key(SCRIPTED, seed)) not in done:
                policy = load_task(TASK).policy
                assert policy is not None  # noqa: S101 - the leg has one
                keep(name, try_policy(policy, seed))
            for arm in ARMS:
                if (name := _key(arm.name, seed)) not in done:
                    keep(name, self._trained(arm, seed, twin))
        write_json(path, told())
        plot_policies(told(), path.with_suffix(".svg"))
        if self.json:
            print_json(told())
        else:
            _print(told())

    def _trained(self, arm: "Arm", seed: int, twin: Path) -> dict[str, float]:
        """Train a policy, or go on with its training, and try it."""
        from isthmus.experiments.firmware_policies import TASK, policy_file, try_policy
        from isthmus.experts.settings import recipe_of
        from isthmus.robots import load_task
        from isthmus.transfer import source_policy
        from isthmus.transfer.source.policy import PolicyFile

        path = policy_file(self.out, arm, seed)
        settings = replace(recipe_of(TASK), randomise=arm.randomise)
        settings = settings if self.steps is None else replace(settings, steps=self.steps)
        task = with_twin(TASK, twin) if arm.twin else TASK
        train_with_progress(task, path, settings, seed, 50, resume=path.exists(), start=None)
        return try_policy(source_policy(load_task(TASK), PolicyFile(str(path))), seed)


def _key(arm: str, seed: int) -> str:
    return f"{arm}/{seed}"


def _print(told: dict[str, Any]) -> None:
    import numpy as np

    rows: list[tuple[str, ...]] = []
    for arm in told["arms"]:
        runs = [told["runs"][_key(arm, seed)] for seed in range(told["seeds"])]
        values = [[run[column] for run in runs] for column in COLUMNS]
        rows.append((arm, *(f"{np.median(one):.3f} ({min(one):.3f} to {max(one):.3f})" for one in values)))
    print_table("score, median (range) over seeds", ("trained", "in simulation ", "firmware ", "late link "), rows)
