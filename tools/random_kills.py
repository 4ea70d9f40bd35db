"""Kill runs at random moments, resume them, and compare with runs that were left alone: `make kills`.

A run is killed (SIGKILL) up to three times, each after a random share of the time that the whole run computes for,
and then goes on to its end. Its result but for times, its episodes and its models must be those of the run that was
left alone, its manifest must fit, and nothing half-written may be left. Exits with code 1 where one differs.
"""

import argparse
import gc
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # pyright: ignore[reportUnusedImport] - here, so that children need not load it

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core.commit import current_commit
from isthmus.io import PARTIAL
from isthmus.transfer import Config, RunFolder, run_transfer

METHODS = ("inverse", "residual-action", "model-inverse")
MOST_KILLS = 3
"""Of one run."""
POLL_SECONDS = 0.002
TIMES = ("seconds",)
"""What of a result differs from run to run."""


def main() -> None:
    """Kill as often as asked for, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to write the figures as JSON, after each run")
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    figures: dict[str, Any] = {"commit": current_commit(), "seed": asked.seed, "kills": 0, "runs": 0, "different": []}
    places: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="isthmus-kills-") as temporary:
        whole: dict[str, tuple[Path, float]] = {}
        while figures["kills"] < asked.kills:
            method = METHODS[int(figures["runs"]) % len(METHODS)]
            if method not in whole:
                path = Path(temporary) / f"whole-{method}"
                whole[method] = path, _run(method, path) or 0.0
            path = Path(temporary) / f"run-{figures['runs']}"
            undisturbed, seconds = whole[method]
            for _ in range(chance.randint(1, min(MOST_KILLS, asked.kills - figures["kills"]))):
                if _run(method, path, chance.uniform(0, 1) * seconds) is not None:
                    break  # it came to its end before
                figures["kills"] += 1
                places[_latest(path)] += 1
            _run(method, path)
            figures["runs"] += 1
            if difference := _difference(undisturbed, path):
                figures["different"].append(f"run {figures['runs']} by {method}: {difference}")
            print(
                f"{figures['runs']} runs, {figures['kills']} kills, {len(figures['different'])} different", flush=True
            )
            if asked.out:
                asked.out.write_text(
                    json.dumps(figures | {"killed_after": dict(sorted(places.items()))}, indent=2) + "\n"
                )
    for line in figures["different"]:
        print(line)
    sys.exit(1 if figures["different"] else 0)


def _run(method: str, path: Path, seconds: float | None = None) -> float | None:
    """Do the run in a process of its own, or go on with it, and kill it after so many seconds of computing.

    Returns what it computed to its end, or None where it was killed before.
    """
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()  # a child that frees a simulator of this process would wait for ever for threads that it has not
    child = os.fork()
    if not child:
        try:
            settings = MethodSettings(fit=FitSettings(epochs=3))
            config = Config("reacher", "tilt=90", method, 110, 0, 50, evaluation_episodes=50, settings=settings)
            run_transfer(config, RunFolder(path), resume=True)
        except BaseException as error:
            print(f"{path.name} failed: {error!r}", flush=True)
            os._exit(1)
        os._exit(0)
    while seconds is not None and _computed(child) < seconds:
        time.sleep(POLL_SECONDS)
        if _state(child) == "Z":
            break
    if seconds is not None:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    if os.WIFSIGNALED(status) and seconds is not None:
        return None
    if status:
        raise SystemExit(f"a run did not come to its end: {path.name}")
    return usage.ru_utime + usage.ru_stime


def _computed(process: int) -> float:
    return sum(int(field) for field in _stat(process)[11:13]) / os.sysconf("SC_CLK_TCK")


def _state(process: int) -> str:
    return _stat(process)[0]


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _latest(path: Path) -> str:
    """What the run had written last: its folder, or its name in the run's own."""
    files = [file for file in path.rglob("*") if file.is_file() and file.name not in (".lock", "manifest.json")]
    if not files:
        return "nothing"
    latest = max(files, key=lambda file: file.stat().st_mtime_ns)
    if latest.suffix == PARTIAL:
        return "half-written"
    return latest.relative_to(path).parts[0]


def _difference(whole: Path, path: Path) -> str:
    """What is not as in the run that was left alone, or nothing."""
    RunFolder(path).check()
    if left := sorted(path.rglob(f"*{PARTIAL}")):
        return f"{left[0].name} is left"
    names = [sorted(str(file.relative_to(one)) for file in one.rglob("*.npz")) for one in (whole, path)]
    if names[0] != names[1]:
        return f"its files are {names[1]}, not {names[0]}"
    for name in names[0]:
        if (whole / name).read_bytes() != (path / name).read_bytes():
            return f"{name} differs"
    results: list[dict[str, Any]] = [json.loads((one / "result.json").read_text()) for one in (whole, path)]
    return next((f"{key} differs" for key in results[0] if key not in TIMES and results[0][key] != results[1][key]), "")


if __name__ == "__main__":
    main()
