"""A run on disk: every completed piece is a file, and a file is whole or not there.

config.json               what the run is
baseline.json             expert, zero action and unadapted policy
episodes/RRR-WWW-NN.npz   round, wave, robot
models/RRR.npz            what was learned after each round
rounds/RRR.json           how the round went; its last file, so that a round with it is complete
traces/NAME.npz           a few episodes of expert, unadapted and adapted policy in full
step.json                 how long a control step takes
steps.json                with a real target: how many steps it took, and what for
robot.json                with a robot over ROS: time kept, commands clipped, messages lost
cord.json                 where a cord is tied to the robot, for the video alone
result.json, report.html
"""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isthmus.core import Episode, Problem
from isthmus.data import PARTIAL, load_episode, read_json, remove_partial, save_episode, write_json
from isthmus.transfer.config import Config
from isthmus.transfer.records import Round


def folder_name(*parts: object) -> str:
    """A name for a folder that says what is in it, without what a shell or a file system would trip over."""
    return "".join(letter if letter.isalnum() or letter in "-._=" else "-" for letter in "-".join(map(str, parts)))


class RunFolder:
    """Reads and writes the pieces of one run."""

    def __init__(self, path: Path | str) -> None:
        """Name a folder; nothing is touched yet."""
        self.path = Path(path)

    @property
    def config_path(self) -> Path:
        """Where the configuration is."""
        return self.path / "config.json"

    @property
    def result_path(self) -> Path:
        """Where the figures are."""
        return self.path / "result.json"

    @property
    def report_path(self) -> Path:
        """Where the page is."""
        return self.path / "report.html"

    @property
    def baseline_path(self) -> Path:
        """Where the scores without adaptation are."""
        return self.path / "baseline.json"

    def model_path(self, round_number: int) -> Path:
        """Where the model of a round is."""
        return self.path / "models" / f"{round_number:03d}.npz"

    def trace_path(self, name: str) -> Path:
        """Where the recorded episodes of `expert`, `unadapted` or `adapted` are."""
        return self.path / "traces" / f"{name}.npz"

    @property
    def step_path(self) -> Path:
        """Where the time of a control step is."""
        return self.path / "step.json"

    def step_microseconds(self) -> float | None:
        """How long one robot waits for its command, if it was measured."""
        return float(read_json(self.step_path)["microseconds"]) if self.step_path.exists() else None

    @contextmanager
    def claimed(self, config: Config, *, resume: bool) -> Generator[None]:
        """Hold the folder for a run of `config`; refuses a folder that is something else, and never overwrites one."""
        if self.path.is_file():
            raise Problem(f"{self.path} is a file: give the name of a folder")
        occupied = self.path.is_dir() and any(
            entry.name != ".lock" and entry.suffix != PARTIAL for entry in self.path.iterdir()
        )
        if occupied and not self.config_path.exists():
            raise Problem(f"{self.path} holds files that are not a run's: give an empty or new folder")
        if occupied and not resume:
            raise Problem(f"{self.path} already holds a run: go on with it by --resume, or give another folder")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / ".lock").open("w")
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
                self._check_same(config)
            remove_partial(self.path)
            if not self.config_path.exists():
                write_json(self.config_path, config.to_json())
            yield

    def _check_same(self, config: Config) -> None:
        ours, theirs = _flat(config.to_json()), _flat(Config.load(self.config_path).to_json())
        different = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
        if different:
            name = different[0]
            raise Problem(
                f"{self.path} belongs to another run ({name} is {theirs.get(name)} there, {ours.get(name)} here): "
                "give another folder"
            )

    def save_wave(self, round_number: int, wave: int, episodes: list[Episode]) -> None:
        """Keep the episodes of one wave, that of robot 0 last: a wave with it is complete."""
        for robot, episode in reversed(list(enumerate(episodes))):
            save_episode(self.path / "episodes" / f"{round_number:03d}-{wave:03d}-{robot:02d}.npz", episode)

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

    @property
    def steps_path(self) -> Path:
        """Where the steps of a real target are counted."""
        return self.path / "steps.json"

    @property
    def robot_path(self) -> Path:
        """Where it is written how a robot over ROS did."""
        return self.path / "robot.json"

    def save_robot(self, facts: dict[str, Any]) -> None:
        """Keep what happened with a robot, beside what is known of earlier parts of the run."""
        write_json(self.robot_path, {"parts": [*self.robot_parts(), facts]})

    def robot_parts(self) -> list[dict[str, Any]]:
        """What happened with a robot, in every part of the run; nothing where there was none."""
        return list(read_json(self.robot_path)["parts"]) if self.robot_path.exists() else []

    def save_round(self, round_number: int, record: dict[str, Any]) -> None:
        """Mark a round as complete."""
        write_json(self.path / "rounds" / f"{round_number:03d}.json", record)

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


def _flat(value: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, dict):
            flat |= _flat(part, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            flat[prefix + name] = list(part) if isinstance(part, tuple) else part  # pyright: ignore[reportUnknownArgumentType]
    return flat
