"""A run on disk: every completed piece is a file, and a file is whole or not there.

config.json               what the run is
baseline.json             expert, zero action and unadapted policy
episodes/RRR-WWW-NN.npz   round, wave, robot
models/RRR.npz            what was learned after each round
models/RRR-practice.npz   how far a round's practice has come, where there is one
rounds/RRR.json           how the round went; its last file, so that a round with it is complete
traces/NAME.npz           a few episodes of expert, unadapted and adapted policy in full
step.json                 how long a control step takes
steps.json                with a real target: how many steps it took, and what for
forward.json              with logs alone: how well the simulator that they put right predicts them
robot.json                with a robot over ROS: time kept, commands clipped, messages lost
cord.json                 where a cord is tied to the robot, for the video alone
result.json, report.html
manifest.json             a digest of every file above but the page: see `manifest.py`
.lock                     held while a process works on the run

Every JSON file is an object whose fields are those of a dataclass: config.json of `Config`, with the format's number
and the working folder that relative names of files start from; baseline.json of `Baseline`; rounds/RRR.json of
`Round`; result.json of `Result`. Nothing in a run folder is executed, and nothing in it is followed out of it: it holds
regular files and folders only, and files that a configuration names are opened only if the user names them too.
"""

import fcntl
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from isthmus.adapt.common.checkpoint import Checkpoint
from isthmus.adapt.common.method_state import MethodState
from isthmus.core import Episode, Problem
from isthmus.io import (
    PARTIAL,
    check_tree,
    from_json,
    load_episode,
    open_lock,
    read_json,
    remove_partial,
    save_episode,
    write_json,
)
from isthmus.transfer.config import WORKING_FOLDER, Config
from isthmus.transfer.control_step import StepTime
from isthmus.transfer.manifest import NAME as MANIFEST
from isthmus.transfer.manifest import Manifest
from isthmus.transfer.records import Round

LOCK = ".lock"
SHOWN_OF_ROBOT = {
    "pace": {"robot_seconds", "steps", "share_within_2_ms", "lost"},
    "clipped": {"position", "step", "lead"},
    "traffic": {"disordered", "broken"},
}
"""Figures of `robot.json` that a command or the page shows, by kind."""


def folder_name(*parts: object) -> str:
    """A name for a folder that says what is in it, without what a shell or a file system would trip over."""
    return "".join(letter if letter.isalnum() or letter in "-._=" else "-" for letter in "-".join(map(str, parts)))


class RunFolder:
    """Reads and writes the pieces of one run."""

    def __init__(self, path: Path | str) -> None:
        """Name a folder; nothing is touched yet."""
        self.path = Path(path)
        self.config_path, self.baseline_path = self.path / "config.json", self.path / "baseline.json"
        self.result_path, self.report_path = self.path / "result.json", self.path / "report.html"
        self.step_path, self.steps_path = self.path / "step.json", self.path / "steps.json"
        self.robot_path = self.path / "robot.json"
        self.forward_path = self.path / "forward.json"

    def model_path(self, round_number: int) -> Path:
        """Where the model of a round is."""
        return self.path / "models" / f"{round_number:03d}.npz"

    def estimator_path(self, round_number: int) -> Path:
        """Where a round's estimator is, if the run has one."""
        return self.path / "models" / f"{round_number:03d}-estimator.npz"

    def checkpoint(self, round_number: int) -> Checkpoint:
        """Where a round's fit keeps what it has come to, if it takes long."""
        path = self.path / "models" / f"{round_number:03d}-practice.npz"

        def load(kind: str) -> MethodState | None:
            return MethodState.read(path, kind) if path.exists() else None

        return Checkpoint(load, lambda state: self.keep({path: state.write}))

    def trace_path(self, name: str) -> Path:
        """Where the recorded episodes of `expert`, `unadapted` or `adapted` are."""
        return self.path / "traces" / f"{name}.npz"

    def step_time(self) -> StepTime | None:
        """How long one robot waits for its command, if it was measured."""
        return StepTime.load(self.step_path) if self.step_path.exists() else None

    @property
    def working_folder(self) -> Path:
        """Where relative names of files in the configuration start from: the current folder, if it is not known."""
        known = read_json(self.config_path).get(WORKING_FOLDER)
        return Path(known) if isinstance(known, str) else Path()

    def check(self) -> None:
        """Refuse a folder that holds more than files and folders, or files that its run did not write."""
        check_tree(self.path)
        Manifest(self.path).check()

    def keep(self, files: Mapping[Path, Callable[[Path], None]]) -> None:
        """Write pieces of the run, each by a function that is given the path, and list them in the manifest.

        They are moved into place in the order in which they are given, once all of them are written and listed.
        """
        places = {path: path.with_name(f".{path.name}{PARTIAL}") for path in files}
        try:
            for path, write in files.items():
                write(places[path])
            Manifest(self.path).add(places)
            for path, place in places.items():
                place.replace(path)
        except OSError as error:
            raise Problem(f"cannot write to {self.path}: {error.strerror}") from error
        finally:
            for place in places.values():
                place.unlink(missing_ok=True)

    def keep_json(self, path: Path, value: object) -> None:
        """Write one piece of the run as JSON."""
        self.keep({path: partial(write_json, value=value)})

    @contextmanager
    def claimed(self, config: Config, *, resume: bool) -> Generator[None]:
        """Hold the folder for a run of `config`; refuses a folder that is something else, and never overwrites one."""
        if self.path.exists() and not self.path.is_dir():
            raise Problem(f"{self.path} is a file: give the name of a folder")
        check_tree(self.path)
        occupied = self.path.is_dir() and any(
            entry.name not in (LOCK, MANIFEST) and entry.suffix != PARTIAL for entry in self.path.iterdir()
        )
        if occupied and not self.config_path.exists():
            raise Problem(f"{self.path} holds files that are not a run's: give an empty or new folder")
        if occupied and not resume:
            raise Problem(f"{self.path} already holds a run: go on with it by --resume, or give another folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = open_lock(self.path / LOCK)
        except OSError as error:
            raise Problem(f"cannot use {self.path} as a run folder: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Problem(
                    f"{self.path} is in use by another process: wait for it or give another folder"
                ) from error
            if self.config_path.exists():
                self.check()
                self._check_same(config)
            remove_partial(self.path)
            if not self.config_path.exists():
                Manifest(self.path).begin()
                self.keep_json(self.config_path, {**config.to_json(), WORKING_FOLDER: str(Path.cwd())})
            yield

    def _check_same(self, config: Config) -> None:
        ours, theirs = _flat(config.to_json()), _flat(Config.load(self.config_path).to_json())
        different = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
        if config.target.simulated:  # safety is a matter of real targets, and its defaults have changed
            different = [name for name in different if not name.startswith("safety.")]
        if different:
            name = different[0]
            raise Problem(
                f"{self.path} belongs to another run ({name} is {theirs.get(name)} there, {ours.get(name)} here): "
                "give another folder"
            )

    def save_wave(self, round_number: int, wave: int, episodes: list[Episode]) -> None:
        """Keep the episodes of one wave, that of robot 0 last: a wave with it is complete."""
        folder, name = self.path / "episodes", f"{round_number:03d}-{wave:03d}"
        numbered = reversed(list(enumerate(episodes)))
        self.keep({folder / f"{name}-{robot:02d}.npz": partial(save_episode, episode=one) for robot, one in numbered})

    def waves(self, round_number: int) -> list[list[Episode]]:
        """The complete waves of a round that are on disk, in order."""
        found: dict[int, list[Episode]] = {}
        folder = self.path / "episodes"
        for file in sorted(folder.glob(f"{round_number:03d}-*.npz")):
            if not (folder / f"{file.stem[:-2]}00.npz").exists():
                continue
            try:
                found.setdefault(int(file.stem.split("-")[1]), []).append(load_episode(file))
            except Problem as problem:
                raise Problem(f"{problem}; remove this file and the later ones to collect them again") from problem
        if sorted(found) != list(range(len(found))):
            missing = min(set(range(max(found) + 1)) - set(found))
            raise Problem(f"wave {missing} of round {round_number} is missing in {folder}: restore it")
        return [found[wave] for wave in range(len(found))]

    def save_robot(self, facts: dict[str, Any]) -> None:
        """Keep what happened with a robot, beside what is known of earlier parts of the run."""
        self.keep_json(self.robot_path, {"parts": [*self.robot_parts(), facts]})

    def robot_parts(self) -> list[dict[str, Any]]:
        """What happened with a robot, in every part of the run; nothing where there was none."""
        if not self.robot_path.exists():
            return []
        return from_json(_Robot, read_json(self.robot_path), self.robot_path, "what happened with a robot").parts

    def save_round(self, round_number: int, record: Round) -> None:
        """Mark a round as complete."""
        self.keep_json(self.path / "rounds" / f"{round_number:03d}.json", asdict(record))

    def round(self, round_number: int) -> Round | None:
        """How a round went, if it is complete."""
        path = self.path / "rounds" / f"{round_number:03d}.json"
        return Round.load(path) if path.exists() else None

    def rounds(self) -> list[Round]:
        """All complete rounds, in order."""
        return [Round.load(path) for path in sorted((self.path / "rounds").glob("*.json"))]

    def episodes(self) -> list[Episode]:
        """Everything that was collected."""
        return [load_episode(path) for path in sorted((self.path / "episodes").glob("*.npz"))]


@dataclass(frozen=True)
class _Robot:
    """The content of robot.json."""

    parts: list[dict[str, dict[str, float]]]

    def __post_init__(self) -> None:
        """Refuse a part that lacks what is shown of it: it may come from a file."""
        for part in self.parts:
            for name, figures in SHOWN_OF_ROBOT.items():
                if missing := figures - part.get(name, {}).keys():
                    raise ValueError(f"{name} has no {min(missing)}")


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, dict):
            flat |= _flat(part, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            flat[prefix + name] = list(part) if isinstance(part, tuple) else part  # pyright: ignore[reportUnknownArgumentType]
    return flat
