"""Comparisons on disk: every job that is done is a file, and a file is whole or not there.

cells/NAME.json     what came of a job, with the settings it was done with
runs/NAME-EXPERT/   a crossing under way; removed once its cell is there
"""

import hashlib
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.data import from_json, read_json, write_json
from isthmus.experts import expert_path
from isthmus.studies.compare.job import Crossing, Job, Placed
from isthmus.studies.compare.kept import Kept, KeptCrossing, KeptOracle


class Store:
    """Reads and writes what came of jobs."""

    def __init__(self, path: Path) -> None:
        """Name the folder; nothing is touched yet."""
        self.path = path

    def place(self, job: Job) -> Placed:
        """The job with its folder, as any process finds it; what another expert began is another's."""
        digest = expert_digest(job.case.task)[:8]
        return Placed(job, (self.path / "runs" / f"{job.file}-{digest}").resolve())

    def load(self, job: Job) -> dict[str, Any] | None:
        """What came of a job, if it is done; what was done otherwise than it would be now is a Problem."""
        path = self._path(job)
        if not path.exists():
            return None
        what, advice = "a comparison's cell", "; remove it to make it again"
        kept = from_json(Kept, read_json(path), path, what, advice)
        from_json(KeptCrossing if isinstance(job, Crossing) else KeptOracle, kept.found, path, what, advice)
        if kept.expert != expert_digest(job.case.task):
            raise Problem(f"{path} was made with another expert: remove it to make it again, or give another --out")
        if difference := _difference(kept.settings, json.loads(json.dumps(job.settings))):
            raise Problem(f"{path} was made with other settings ({difference}): remove it, or give another --out")
        return kept.found

    def save(self, placed: Placed, found: dict[str, Any]) -> None:
        """Keep what came of a job, and no more than that."""
        job = placed.job
        kept = {"settings": job.settings, "expert": expert_digest(job.case.task), "found": found}
        write_json(self._path(job), kept)
        self.tidy(placed)

    def tidy(self, placed: Placed) -> None:
        """Remove what a job that is done left behind."""
        shutil.rmtree(placed.folder, ignore_errors=True)

    def _path(self, job: Job) -> Path:
        return self.path / "cells" / f"{job.file}.json"


@cache
def expert_digest(task: str) -> str:
    """Tells one expert of a task from another; the same from the start of a comparison to its end."""
    path = expert_path(task)
    return hashlib.blake2b(path.read_bytes() if path.exists() else b"", digest_size=16).hexdigest()


def _difference(then: dict[str, Any], now: dict[str, Any], prefix: str = "") -> str | None:
    """The first setting that is another now; one that came later was not there to be different."""
    for name, value in then.items():
        if isinstance(value, dict) and isinstance(now.get(name), dict):
            if found := _difference(value, now[name], f"{prefix}{name}."):  # pyright: ignore[reportUnknownArgumentType]
                return found
        elif now.get(name) != value:
            was = str(value)[:80]  # pyright: ignore[reportUnknownArgumentType]
            return f"{prefix}{name} was {was}, is {now.get(name)}"
    return None
