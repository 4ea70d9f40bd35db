"""The list of what a run wrote: a digest of every file, so that a file of another run is noticed.

`manifest.json` holds `{"format": 1, "files": {"rounds/000.json": ["DIGEST", ...], ...}}`. The digest of a file is
listed before the file is moved into place. A run that is killed in between has a digest too many, never a file
without one, so a file whose digest is not listed was not written by the run. A file that is written again has several
digests; any of them will do.

This protects against mix-ups and accidents: an episode of another run, a changed digit. It does not protect against
somebody who changes the manifest too, or removes it: a folder without one is of an earlier version, and is taken as it
is, with a notice.
"""

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import from_json, open_regular, read_json, write_json

NAME = "manifest.json"
FORMAT = 1
PIECES = (
    *("config.json", "baseline.json", "step.json", "steps.json", "robot.json", "cord.json", "result.json"),
    *("episodes/*.npz", "models/*.npz", "rounds/*.json", "traces/*.npz"),
)
"""What is read of a run folder, and therefore listed."""
ADVICE = "restore it from a copy, or begin the run again in another folder"


@dataclass(frozen=True)
class _Listed:
    """The content of the file."""

    format: int
    files: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


class Manifest:
    """The digests of the files in one run folder."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is touched yet."""
        self._folder, self.path = folder, folder / NAME

    def begin(self) -> None:
        """Begin a list, for a new run."""
        write_json(self.path, {"format": FORMAT, "files": {}})

    def add(self, places: Mapping[Path, Path]) -> None:
        """List files, each by its name and the place where its content is until it is moved there.

        A run that was begun without a manifest goes on without.
        """
        if not self.path.exists():
            return
        listed = self._files()
        for path, place in places.items():
            digests = listed.setdefault(path.relative_to(self._folder).as_posix(), [])
            if (made := digest(place)) not in digests:
                digests.append(made)
        write_json(self.path, {"format": FORMAT, "files": listed})

    def check(self) -> None:
        """Refuse a folder with a file that the run did not write, or that was changed since."""
        if not self.path.exists():
            logging.getLogger("isthmus").warning(
                "%s has no %s (it was made by an earlier version): its files are taken as they are", self._folder, NAME
            )
            return
        listed = self._files()
        for path in self._pieces():
            digests = listed.get(path.relative_to(self._folder).as_posix())
            if digests is None:
                raise Problem(f"{path} was not written by this run (it is not in {NAME}): remove it")
            if digest(path) not in digests:
                raise Problem(f"{path} is not as this run wrote it (its digest is not in {NAME}): {ADVICE}")

    def _pieces(self) -> list[Path]:
        return [path for piece in PIECES for path in sorted(self._folder.glob(piece))]

    def _files(self) -> dict[str, list[str]]:
        found = from_json(_Listed, read_json(self.path), self.path, "a run's manifest", f"; {ADVICE}")
        if found.format != FORMAT:
            raise Problem(f"{self.path} was written by another version of Isthmus: use that one, or start a new run")
        return found.files


def digest(path: Path) -> str:
    """Tells the content of a file from any other."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
