"""A kind of gap: one dial, with its unit, its range and the robots it fits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import mujoco

from isthmus.sim.anatomy import robot_bodies

Touches = Literal["model", "action", "sensor"]
TakesBody = Literal["no", "perhaps", "yes"]
Misfit = Callable[[mujoco.MjModel, str], str | None]
"""Why a model, or one body of it, cannot have a gap; None when it can."""
Apply = Callable[[mujoco.MjModel, float, str], None]
"""Changes a model in place."""
FACTOR = "times the source's"
"""The unit of a factor."""


def fits_every_robot(_model: mujoco.MjModel, _body: str) -> str | None:
    """No robot is unfit."""
    return None


@dataclass(frozen=True)
class GapKind:
    """One dial. A body is the name of one of the robot's; without one it is empty."""

    name: str
    summary: str
    touches: Touches
    """What it changes: the model, or what lies between commands and actuators, or between sensors and observations."""
    unit: str
    low: float
    high: float
    neutral: float
    """The value at which there is no gap."""
    example: float
    whole: bool = False
    """Only whole numbers make sense."""
    body: TakesBody = "no"
    """Whether the dial is for one body of the robot, as in `mass:torso=1.3`."""
    beside: str = ""
    """The dial without which this one means nothing."""
    misfit: Misfit = fits_every_robot
    apply: Apply | None = None
    """None for what is not in a model."""
    words: tuple[str, ...] = ()
    """What the numbers from 0 on are called, for a dial that is set by a word."""

    @property
    def usage(self) -> str:
        """How the dial is written: `gravity`, `mass[:BODY]`, `payload:BODY`."""
        return self.name + {"no": "", "perhaps": "[:BODY]", "yes": ":BODY"}[self.body]

    @property
    def range(self) -> str:
        """What the dial can be set to, in words."""
        if self.words:
            return f"word: {', '.join(self.words[:-1])} or {self.words[-1]}"
        return f"{'whole ' if self.whole else ''}number from {self.low:g} to {self.high:g} {self.unit}"

    def admits(self, value: float) -> bool:
        """Whether the dial can be set to `value`."""
        return self.low <= value <= self.high and (not self.whole or value == int(value))

    def parse(self, text: str) -> float:
        """The value that is written so; ValueError when it is none."""
        return float(self.words.index(text.strip())) if self.words else float(text)

    def text(self, value: float) -> str:
        """The shortest text of exactly that value."""
        if self.words and value in range(len(self.words)):
            return self.words[int(value)]
        return repr(float(value)).removesuffix(".0")

    def fits(self, model: mujoco.MjModel) -> bool:
        """Whether a robot can have this gap by itself, at one of its bodies at least."""
        bodies = robot_bodies(model) if self.body == "yes" else [""]
        return any(self.misfit(model, body) is None for body in bodies)


def factor(
    name: str,
    summary: str,
    limits: tuple[float, float],
    example: float,
    misfit: Misfit,
    apply: Apply,
    body: TakesBody = "no",
) -> GapKind:
    """A dial that multiplies something in the model."""
    return GapKind(name, summary, "model", FACTOR, *limits, 1.0, example, body=body, misfit=misfit, apply=apply)


def channel(
    touches: Touches, name: str, summary: str, unit: str, high: float, example: float, beside: str = ""
) -> GapKind:
    """A dial of a channel, from 0, where there is no gap, to `high`; a whole one stays a whole number."""
    none, whole = type(high)(0), isinstance(high, int)
    return GapKind(name, summary, touches, unit, none, high, none, example, whole=whole, beside=beside)
