"""Which target a run adapts to, as a value: parsed once, printed once."""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from isthmus.core import Problem, unknown_name
from isthmus.hardware.address import FORMS as ADDRESSES
from isthmus.hardware.address import SCHEMES, RobotAddress, parse_address

Kind = Literal["gap", "gym", "ros", "ros2", "udp", "firmware", "logs"]
"""The task's own robot in simulation, with a gap; a Gymnasium environment; a robot on a ROS graph, in a
ROS 2 domain, or over UDP; a simulated robot that is driven by its own firmware, on a board that a file describes; a
robot of which there are logs and nothing else.

A new kind is added here, and to the makers in `make.py`.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)
TAG = re.compile(r"[a-z][a-z0-9_-]*")
MODULE_AND_ID = re.compile(r"[\w.]+:[\w./-]+-v\d+")
"""A Gymnasium id with the module that registers it, as in my_envs:Arm-v0."""
FROM_LOGS = "logs:recorded"
"""A target that is known by its logs alone, as text."""
FORMS = f"an environment's id or Python file, gym:ID, firmware:BOARD.toml, gap:NAME=VALUE, {ADDRESSES}"


@dataclass(frozen=True)
class TargetSpec:
    """A target: its kind, and which one of that kind."""

    kind: Kind = "gap"
    value: str = "none"
    """The gap, as in tilt=90; the environment's id or Python file; or the address, as in //127.0.0.1:11311."""

    @staticmethod
    def parse(text: str) -> "TargetSpec":
        """The target that `text` names: `KIND:VALUE`, or an environment's id or Python file alone."""
        tag, colon, value = text.partition(":")
        if tag in SCHEMES and tag in KINDS and colon:
            return TargetSpec(tag, str(parse_address(text)).removeprefix(f"{tag}:"))
        if not text or (colon and tag in KINDS and not value):
            raise Problem(f"{text!r} names no target: give {FORMS}")
        if colon and tag in KINDS:
            return TargetSpec(tag, value)
        if colon and TAG.fullmatch(tag) and not _names_environment(text):
            raise Problem(f"{text!r} names no target ({unknown_name('kind of target', tag, KINDS)}): give {FORMS}")
        return TargetSpec("gym", text)

    @staticmethod
    def of(gap: str = "none", environment: str | None = None) -> "TargetSpec":
        """The target of a gap, or of the `environment` that is given instead."""
        if environment is None:
            return TargetSpec("gap", gap)
        if gap != "none":
            raise Problem("an environment is a target of its own: give it, or a gap, not both")
        return TargetSpec.parse(environment)

    @staticmethod
    def of_options(gap: str = "none", target: str | None = None, robot: str | None = None) -> "TargetSpec":
        """The target that the options `--gap`, `--target` and `--robot` of a command ask for."""
        if robot is not None and target is not None:
            raise Problem("a robot and an environment are two targets: give one")
        if robot is not None:
            parse_address(robot)
        return TargetSpec.of(gap, target if robot is None else robot)

    @property
    def options(self) -> dict[str, str]:
        """The option of a command that asks for this target, and its value."""
        name = "robot" if self.is_robot else "gap" if self.simulated else "target"
        return {name: self.label}

    @property
    def simulated(self) -> bool:
        """Whether it is the task's own robot in simulation, whose steps cost nothing."""
        return self.kind == "gap"

    @property
    def is_estimated(self) -> bool:
        """Whether nobody can be asked: scores are those in a simulator that was put right by logs."""
        return self.kind == "logs"

    @property
    def is_physical(self) -> bool:
        """Whether it may be a real robot, which somebody should be asked about before it moves."""
        return self.kind == "gym" or self.is_robot

    @property
    def is_robot(self) -> bool:
        """Whether it is a robot at an address."""
        return self.kind in SCHEMES

    @property
    def gap(self) -> str:
        """The gap of a simulated target; none for others."""
        return self.value if self.simulated else "none"

    @property
    def environment(self) -> str | None:
        """The target as text where it is not simulated."""
        return None if self.simulated else str(self)

    @property
    def address(self) -> RobotAddress | None:
        """Where a robot is; None for others."""
        return parse_address(str(self)) if self.is_robot else None

    @property
    def label(self) -> str:
        """The target for people and for names of folders."""
        return self.environment or self.gap

    def __str__(self) -> str:
        """As `parse` reads it."""
        is_plain = self.kind == "gym" and (":" not in self.value or _names_environment(self.value))
        return self.value if is_plain else f"{self.kind}:{self.value}"


def _names_environment(text: str) -> bool:
    """Whether a text with a colon in it is an environment's id or file, and no other kind of target."""
    tag = text.partition(":")[0]
    return tag not in KINDS and (text.endswith(".py") or MODULE_AND_ID.fullmatch(text) is not None)
