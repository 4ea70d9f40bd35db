"""An observation spec: the terms that a policy is shown, the stack of frames, and what its actions mean.

A spec is plain data, as it is in a TOML file. What it means for a robot is worked out by `compile`.
"""

from dataclasses import dataclass, field
from typing import Literal

from isthmus.core import Problem, check_range, unknown_name

KINDS = {
    "joint_pos": "positions of the joints, relative to the default pose",
    "joint_vel": "velocities of the joints",
    "base_lin_vel": "linear velocity of the base, in its own frame",
    "base_ang_vel": "angular velocity of the base, in its own frame",
    "projected_gravity": "direction of gravity in the frame of the base",
    "base_quat": "orientation of the base as a quaternion, w first",
    "base_height": "height of the base",
    "command": "what is commanded: observed numbers whose names begin with `command`, and zeros up to three",
    "last_action": "the action that the policy gave last",
    "phase": "sine and cosine of a clock",
    "phase_sin": "sine of a clock",
    "phase_cos": "cosine of a clock",
    "observation": "numbers of the task's own observation, by their names",
}
"""Every kind of term, with what it shows."""
OPTIONS: dict[str, frozenset[str]] = {
    "joint_pos": frozenset({"joints", "relative"}),
    "joint_vel": frozenset({"joints"}),
    "base_lin_vel": frozenset({"frame"}),
    "base_ang_vel": frozenset({"frame"}),
    "command": frozenset({"source"}),
    "observation": frozenset({"source"}),
    "last_action": frozenset({"lag", "of"}),
    **dict.fromkeys(("phase", "phase_sin", "phase_cos"), frozenset({"period", "clock", "shifts"})),
}
"""Options that a kind of term has, besides scale, offset and clip."""
MOST_FRAMES, LONGEST_LAG = 1000, 50
Numbers = float | tuple[float, ...]
"""One number for all, or one for each."""


@dataclass(frozen=True)
class TermSpec:
    """One term: shown = clip((value - offset) * scale)."""

    name: str
    kind: str
    scale: Numbers = 1.0
    offset: Numbers = 0.0
    clip: tuple[float, float] | None = None
    """Lower and upper limit of what is shown."""
    joints: tuple[str, ...] = ()
    """Of joint_pos and joint_vel: other joints than the spec's."""
    relative: bool = True
    """Of joint_pos: whether the default pose is subtracted."""
    frame: Literal["base", "world"] = "base"
    """Of velocities of the base."""
    source: tuple[str | float, ...] = ()
    """Of command and observation: names of observed numbers; a number is shown as it is."""
    lag: int = 1
    """Of last_action: how many steps ago it was given."""
    of: Literal["raw", "command"] = "raw"
    """Of last_action: what the network gave, or the command that was made of it."""
    period: float | None = None
    """Of phase: seconds."""
    clock: str = ""
    """Of phase: the observed number that is the time; by default the time since the episode began."""
    shifts: tuple[float, ...] = (0.0,)
    """Of phase: offsets in periods; there is a sine and a cosine for each."""

    def __post_init__(self) -> None:
        """Refuse a kind that does not exist and options that make no sense."""
        if self.kind not in KINDS:
            raise unknown_name("term", self.kind, KINDS)
        where = f"term {self.name!r}"
        if self.kind == "observation" and not self.source:
            raise Problem(f"{where} needs the names of observed numbers: give from = [...]")
        if self.kind.startswith("phase") and (self.period is None or not 1e-3 <= self.period <= 1e4):
            raise Problem(f"{where} needs a period in seconds, from 0.001 to 10000")
        check_range(f"lag of {where}", self.lag, 1, LONGEST_LAG)
        if self.clip is not None and not self.clip[0] < self.clip[1]:
            raise Problem(f"clip of {where} must be a positive number, or a lower and an upper limit, got {self.clip}")
        for option, value, choices in (("frame", self.frame, ("base", "world")), ("of", self.of, ("raw", "command"))):
            if value not in choices:
                raise unknown_name(f"{option} of {where}:", value, choices)


@dataclass(frozen=True)
class StackSpec:
    """How the frames of several steps are put together."""

    frames: int = 1
    order: Literal["oldest first", "newest first"] = "oldest first"
    by: Literal["term", "frame"] = "frame"
    """`frame`: whole frames one after the other. `term`: all frames of the first term, then of the second."""
    fill: Literal["first", "zero"] = "first"
    """What stands for frames before the episode began: the first frame, or zeros."""

    def __post_init__(self) -> None:
        """Refuse numbers and words that make no sense."""
        check_range("frames of the stack", self.frames, 1, MOST_FRAMES)
        for option, value, choices in (
            ("order", self.order, ("oldest first", "newest first")),
            ("by", self.by, ("term", "frame")),
            ("fill", self.fill, ("first", "zero")),
        ):
            if value not in choices:
                raise unknown_name(f"{option} of the stack:", value, choices)


@dataclass(frozen=True)
class ActionSpec:
    """What an action means: command = offset + scale * clip(action)."""

    scale: Numbers = 1.0
    offset: Literal["default_pose", "none"] = "none"
    clip: float | None = None
    """Magnitude to which the network's output is clipped."""
    joints: tuple[str, ...] = ()
    """In the order of the actions; the spec's joints by default."""

    def __post_init__(self) -> None:
        """Refuse a word that makes no sense."""
        if self.offset not in ("default_pose", "none"):
            raise unknown_name("offset of actions:", self.offset, ("default_pose", "none"))
        if self.clip is not None and not self.clip > 0:
            raise Problem(f"clip of actions must be a positive number, got {self.clip}")


@dataclass(frozen=True)
class ObservationSpec:
    """What a policy is shown, and what its actions mean."""

    terms: tuple[TermSpec, ...]
    """In the order in which they are concatenated."""
    joints: tuple[str, ...] = ()
    """Joints in the order that the policy knows; those that actions drive, in the actions' order, by default."""
    default_pose: str | tuple[tuple[str, float], ...] = "reference"
    """A pose that has a name, or the angle of every joint by its name."""
    clip: float | None = None
    """Magnitude to which all that is shown is clipped."""
    stack: StackSpec = field(default_factory=StackSpec)
    actions: ActionSpec = field(default_factory=ActionSpec)

    def __post_init__(self) -> None:
        """Refuse a spec that shows nothing, or a term twice."""
        if not self.terms:
            raise Problem("an observation spec needs terms, as in terms = ['joint_pos', 'joint_vel']")
        names = [term.name for term in self.terms]
        if twice := [name for name in names if names.count(name) > 1]:
            raise Problem(f"the term {twice[0]!r} is named twice: give one of them a name of its own and its kind")
        if self.clip is not None and not self.clip > 0:
            raise Problem(f"clip must be a positive number, got {self.clip}")
