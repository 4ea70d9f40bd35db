"""Families of gaps: one thing that differs, from nothing to as far as it can be set.

A family has one or several ways, which are tried in this order: the one that loads the robot more comes first.

**The rule of the headline.** A family counts in the headline if what differs at a step can be told, at least in
part, from what was observed before: a constant, something that depends on state and command, or a disturbance that is
correlated in time. Independent motor noise can be told from nothing, so that no controller can make up for it. It is
shown, and does not count. Independent sensor noise counts: a filter removes some of it. The rule is about the family,
not about any method's result, and was written before the suite was first run.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco

from isthmus.core import Problem
from isthmus.gaps import KINDS, Gap
from isthmus.sim.anatomy import robot_bodies

DIGITS = 4
"""Significant digits of a size, so that it can be read and typed."""
LINK = "link"
"""In place of a body: the heaviest link that the dial fits, other than the robot's first body."""


@dataclass(frozen=True)
class Turn:
    """A dial that is turned."""

    dial: str
    end: float
    """Where it stands at an amount of 1."""
    start: float | None = None
    """Where it stands without a gap; the dial's neutral value by default."""

    def at(self, amount: float, model: mujoco.MjModel) -> tuple[str, float]:
        """The setting at an amount between 0 and 1; a factor goes there by equal ratios."""
        name, _, body = self.dial.partition(":")
        kind = KINDS[name]
        start = kind.neutral if self.start is None else self.start
        if start > 0 and self.end > 0:
            value = start * math.exp(amount * math.log(self.end / start))
        else:
            value = start + amount * (self.end - start)
        value = float(round(value)) if kind.whole else float(f"{value:.{DIGITS}g}")
        return f"{name}:{_link(name, model)}" if body == LINK else self.dial, value


@dataclass(frozen=True)
class Way:
    """Dials that are turned together, beside others that stand still."""

    turns: tuple[Turn, ...]
    beside: tuple[tuple[str, float], ...] = ()

    def at(self, amount: float, model: mujoco.MjModel) -> Gap:
        """The gap at an amount between 0 and 1 on a robot; Problem where the robot cannot have it."""
        gap = Gap((*self.beside, *(turn.at(amount, model) for turn in self.turns)))
        gap.apply(model)
        return gap

    @property
    def is_whole(self) -> bool:
        """Whether it can only be set to whole numbers."""
        return all(KINDS[turn.dial.partition(":")[0]].whole for turn in self.turns)


@dataclass(frozen=True)
class Family:
    """One thing that may differ."""

    name: str
    ways: tuple[Way, ...]
    counts: bool = True
    """Whether it is in the headline, by the rule above."""


def _one(dial: str, *ends: float, beside: Sequence[tuple[str, float]] = ()) -> tuple[Way, ...]:
    """A way to each of the ends of a dial."""
    return tuple(Way((Turn(dial, end),), tuple(beside)) for end in ends)


def _noise(correlation: float) -> tuple[Way, ...]:
    return _one("motor-noise", 2.0, beside=[("noise-correlation", correlation)])


FAMILIES = (
    Family("gravity", (*_one("gravity", 3.0, 0.0), Way((Turn("gravity", 3.0, start=0.0),), (("tilt", 90.0),)))),
    Family("mass", _one("mass", 10.0, 0.1)),
    Family("mass of a link", _one(f"mass:{LINK}", 10.0, 0.1)),
    Family("contact friction", _one("contact-friction", 0.05, 5.0)),
    Family("joint friction", _one("joint-friction", 100.0)),
    Family("damping", _one("damping", 3.0, 0.0)),
    Family("torque scale", _one("torque-scale", 0.1, 3.0)),
    Family("torque limit", _one("torque-limit", 0.05)),
    Family("link length", _one(f"link-length:{LINK}", 2.0, 0.5)),
    Family("delay", _one("delay", 50)),
    Family("backlash", _one("backlash", 2.0)),
    Family("motor noise, independent", _noise(0.0), counts=False),
    Family("motor noise, lasting", _noise(0.9)),
    Family("motor noise, constant", _noise(1.0)),
    Family("sensor noise", _one("sensor-noise", 1.0)),
    Family(
        "mixture of physics",
        (Way((Turn("mass", 4.0), Turn("torque-scale", 0.25), Turn("damping", 3.0), Turn("armature", 4.0))),),
    ),
    Family(
        "mixture with drives",
        (
            Way(
                (
                    Turn(f"link-length:{LINK}", 1.5),
                    Turn("torque-scale", 0.7),
                    Turn("backlash", 0.5),
                    Turn("motor-noise", 0.5),
                ),
                (("noise-correlation", 0.9),),
            ),
        ),
    ),
)


def family(name: str) -> Family:
    """The family of that name."""
    return next(one for one in FAMILIES if one.name == name)


def _link(dial: str, model: mujoco.MjModel) -> str:
    """The heaviest link that a dial fits."""
    fitting = [body for body in robot_bodies(model)[1:] if KINDS[dial].misfit(model, body) is None]
    if not fitting:
        raise Problem(f"gap {dial!r} fits no link of this robot")
    return max(fitting, key=lambda body: float(model.body(body).mass[0]))
