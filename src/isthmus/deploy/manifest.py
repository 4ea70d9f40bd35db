"""What a bundle says of itself: `manifest.json`, which names every other file with its digest.

manifest.json        this
robot/model.xml      the robot's MuJoCo model, with robot/assets/ beside it
robot/numbers.npz    numbers of the compiled model that MJCF rounds
policy.npz           the policy of the source: a network (`policy.onnx` for one from a foreign ONNX file)
reference.npz        instead of a policy: recorded observations that are followed
adapter.npz          what the method has learned
estimator.npz        the estimator that stands before it, if there is one
source.npz           what was worked out of the source's simulator for it
robust.npz           the network of the method `robust`
networks/NAME.onnx   every network that a control step asks, as ONNX
fused.onnx           the whole control step as one graph, where it needs no simulator
policy.h             the same in C, where it is small enough for a microcontroller
check.npz            observations, and the commands that the run's own policy gives for them

A bundle is data: nothing in it is executed, and every file is read within bounds.
"""

import hashlib
import re
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from isthmus.adapt import METHODS, MethodSettings
from isthmus.core import Problem, WorldSpec
from isthmus.hardware import SafetySettings
from isthmus.io import check_tree, from_json, read_json, read_regular, unpack_arrays, write_json

NAME = "manifest.json"
FORMAT = 1
LARGEST = 512 << 20
"""Bytes of one file."""
MOST_FILES = 2000
PLAIN = re.compile(r"(?:[A-Za-z0-9_+-][A-Za-z0-9._+-]*/){0,2}[A-Za-z0-9_+-][A-Za-z0-9._+-]*")
"""A file's name within the bundle: it leads nowhere else."""
ADVICE = "export the bundle again, or restore it from a copy"


@dataclass(frozen=True)
class World:
    """Names, limits and rates of the robot: the fields of a `WorldSpec`."""

    observation_names: tuple[str, ...]
    """In the order of an observation."""
    action_names: tuple[str, ...]
    """Joints or actuators, in the order of a command."""
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    control_period: float
    """Seconds between two commands."""
    horizon: int
    targets: tuple[int, ...]
    sensed: tuple[int, ...] | None
    commands: str
    """`effort` or `position`."""
    terms: tuple[str, ...] = ()
    """Names of the terms that its policy is shown, in order, where an observation spec says what it is shown."""

    @staticmethod
    def of(spec: WorldSpec, terms: tuple[str, ...] = ()) -> "World":
        """The same as plain data."""
        return World(
            observation_names=spec.observation_names,
            action_names=spec.action_names,
            action_low=tuple(spec.action_low.tolist()),
            action_high=tuple(spec.action_high.tolist()),
            control_period=spec.control_period,
            horizon=spec.horizon,
            targets=tuple(spec.targets.tolist()),
            sensed=None if spec.sensed is None else tuple(spec.sensed.tolist()),
            commands=spec.commands,
            terms=terms,
        )

    @property
    def spec(self) -> WorldSpec:
        """As a `WorldSpec`."""
        commands: Literal["effort", "position"] = "position" if self.commands == "position" else "effort"
        if self.commands != commands:
            raise ValueError(f"world.commands is {self.commands[:20]!r}, expected effort or position")
        return WorldSpec(
            observation_names=self.observation_names,
            action_names=self.action_names,
            action_low=np.array(self.action_low),
            action_high=np.array(self.action_high),
            control_period=self.control_period,
            horizon=self.horizon,
            targets=np.array(self.targets, np.int64),
            sensed=None if self.sensed is None else np.array(self.sensed, np.int64),
            commands=commands,
        )


@dataclass(frozen=True)
class Robot:
    """Which robot it is."""

    task: str
    """The task's name, perhaps with options; the name of the file for a robot that a Python file defines."""
    code_digest: str = ""
    """Of that Python file. Empty for other robots."""
    outside: str = ""
    """Why the robot is not in the bundle, and has to be named when it is loaded; empty where it is in it."""
    model_digest: str = ""
    """Of all numbers of the MuJoCo model."""
    estimator: str = "none"
    """What makes observations of what the sensors show: `task` for the robot's code, else an `--estimator` of the run,
    or `shown` where what is not sensed is shown as at the usual start."""


@dataclass(frozen=True)
class SourcePolicy:
    """The policy that was adapted."""

    kind: str
    """`network`, `onnx`, `reference` for recorded observations, or `task` for one that is part of the robot's code."""
    view: str = ""
    """Name of the layout that it sees, where that is more than a choice of columns."""
    output: str = ""
    """Of an ONNX file: which output has the actions."""
    squash_clip: float | None = None
    """Of a network whose outputs are squashed between the actuators' limits: what they are clipped to before."""
    squashed: bool = False
    observation_spec: str = ""
    """What it is shown and what its actions mean, as JSON, where an observation spec says so."""


@dataclass(frozen=True)
class Adapter:
    """What changes its commands."""

    method: str
    history: int
    """Observations that a step looks at."""
    settings: MethodSettings
    seed: int
    chosen: str = ""
    """What `auto` has taken."""
    state: bool = True
    """Whether there is an `adapter.npz`."""
    networks: tuple[str, ...] = ()
    """Names of the networks that a step asks."""
    simulates: str = ""
    """Why a step needs the simulator; empty where it does not."""
    fused: str = ""
    """Why there is no `fused.onnx`; empty where there is one."""
    header: str = ""
    """Why there is no `policy.h`; empty where there is one."""
    fused_checked_to: float | None = None
    """Largest difference between `fused.onnx` and NumPy, in half ranges of the actuators; None if it was not run."""
    step_us: dict[str, float] = field(default_factory=dict[str, float])
    """Wall-clock microseconds of a step where the bundle was made: `p50`, `p99`, `worst`."""

    def __post_init__(self) -> None:
        """Refuse a method that is not there."""
        if self.method not in METHODS or not 1 <= self.history <= 1000:
            raise ValueError(f"adapter is of the method {self.method[:40]!r} with history {self.history}")


@dataclass(frozen=True)
class Safety:
    """What a real robot is held to."""

    settings: SafetySettings
    speed_limits: tuple[float, ...] | None
    """Of the joints, in rad/s or m/s; None where they are not known."""


@dataclass(frozen=True)
class Manifest:
    """The content of the file."""

    format: int
    versions: dict[str, str]
    """Of Isthmus, MuJoCo and NumPy where it was made, and the commit."""
    robot: Robot
    world: World
    policy: SourcePolicy
    adapter: Adapter
    safety: Safety
    made_from: dict[str, str]
    """The run: its target, samples and scores, for people."""
    files: dict[str, str]
    """Digest of every other file."""

    def __post_init__(self) -> None:
        """Refuse names that lead out of the folder, and a world that makes no sense."""
        if len(self.files) > MOST_FILES:
            raise ValueError(f"it lists more than {MOST_FILES} files")
        for name in self.files:
            if not PLAIN.fullmatch(name):
                raise ValueError(f"files has {name[:60]!r}, which is no name of a file in a bundle")
        spec = self.world.spec
        speeds = self.safety.speed_limits
        if speeds is not None and (len(speeds) != spec.action_size or not all(0 < one < 1e6 for one in speeds)):
            raise ValueError("safety.speed_limits needs a positive number for every actuator")


class Bundle:
    """The files of one bundle, checked as they are read."""

    def __init__(self, path: Path | str) -> None:
        """Read the manifest of the bundle at `path`."""
        self.path = Path(path)
        if not (self.path / NAME).is_file():
            raise Problem(f"{self.path} is not a bundle: it has no {NAME}; make one with `isthmus deploy export RUN`")
        check_tree(self.path)
        content = read_json(self.path / NAME)
        if content.get("format") != FORMAT:
            raise Problem(
                f"{self.path} is a bundle of format {str(content.get('format'))[:20]}, and this version of Isthmus "
                f"reads format {FORMAT}: use the version that made it, or export it again"
            )
        self.manifest = from_json(Manifest, content, self.path / NAME, "a bundle's manifest", f"; {ADVICE}")

    def __contains__(self, name: str) -> bool:
        """Whether the manifest lists a file."""
        return name in self.manifest.files

    def read(self, name: str) -> bytes:
        """The content of a file that the manifest lists, if it is what it was."""
        listed = self.manifest.files.get(name)
        place = self.path / name
        if listed is None:
            raise Problem(f"{self.path / NAME} does not list {name}: {ADVICE}")
        try:
            content = read_regular(place, limit=LARGEST)
        except OSError as error:
            raise Problem(f"cannot read {place}: {error.strerror}; {ADVICE}") from error
        if digest(content) != listed:
            raise Problem(f"{place} is not as it was exported (its digest is not that in {NAME}): {ADVICE}")
        return content

    def arrays(self, name: str, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The arrays and the description in an npz file of the bundle."""
        return unpack_arrays(BytesIO(self.read(name)), kind, self.path / name)

    def check_files(self) -> None:
        """Read every file once; a Problem with the first that is missing or changed."""
        for name in self.manifest.files:
            self.read(name)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, last of all files: a folder without it is no bundle."""
    write_json(folder / NAME, asdict(manifest))


def digest(content: bytes) -> str:
    """Tells a content from any other."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()
