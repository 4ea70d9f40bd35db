"""The results of a campaign on disk, so that one that was interrupted can go on."""

import hashlib
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.firmware.campaign import CaseResult, Subject
from isthmus.firmware.invariants import Violation
from isthmus.io import open_regular, read_json, write_json

NAME = "campaign.json"


class CampaignFile:
    """The cases that have been run on a firmware, a board and a seed: another firmware begins anew."""

    def __init__(self, folder: Path, subject: Subject, seed: int) -> None:
        """Read what is there; a file of something else is written over."""
        self._path = folder / NAME
        digest = _digest(subject.firmware) + _digest(subject.board.path)
        self._key = {"digest": digest, "seed": seed}
        if subject.arguments:
            self._key["arguments"] = " ".join(subject.arguments)
        self._firmware, self._board = str(subject.firmware), subject.board.name
        self.results: dict[str, CaseResult] = {}
        if self._path.exists():
            stored = read_json(self._path)
            if stored.get("key") == self._key:
                self.results = {one.name: one for one in _results(self._path, stored)}

    def add(self, result: CaseResult) -> None:
        """Keep one more."""
        self.results[result.name] = result
        write_json(
            self._path,
            {
                "key": self._key,
                "firmware": self._firmware,
                "board": self._board,
                "results": [one.to_json() for one in self.results.values()],
            },
        )


def _digest(path: Path) -> str:
    with open_regular(path, follow=True) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _results(path: Path, stored: dict[str, Any]) -> list[CaseResult]:
    try:
        return [_result(one) for one in stored["results"]]
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise Problem(f"{path} is not a whole campaign ({e}): remove it to begin anew") from None


def _result(stored: dict[str, Any]) -> CaseResult:
    violations = tuple(
        Violation(str(v["name"]), float(v["at_s"]), str(v["sentence"]), float(v["figure"]))
        for v in stored["violations"]
    )
    return CaseResult(
        str(stored["name"]),
        str(stored["what"]),
        float(stored["cpu_seconds"]),
        float(stored["simulated_seconds"]),
        violations,
        str(stored["skipped"]),
        str(stored["timeline"]),
    )
