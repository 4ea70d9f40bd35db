"""Gaps whose dials are set at random, each within a range of its own: dynamics to train a robust policy under."""

from dataclasses import dataclass, replace
from itertools import product

import mujoco
import numpy as np

from isthmus.core import Problem, stream
from isthmus.gaps.gap import Gap
from isthmus.gaps.kind import FACTOR
from isthmus.gaps.kinds import KINDS
from isthmus.gaps.mixture import Draw
from isthmus.sim.anatomy import robot_bodies

EVERY = "*"
"""In place of a body: every body for itself."""
INERTIAL = "mass:*=0.85:1.15," + ",".join(f"{part}-{axis}:*=-0.02:0.02" for part in ("com", "joint") for axis in "xyz")
WORDS = {"inertial": f"{INERTIAL},models=30"}
"""Descriptions with a name. `inertial` is that of Hwangbo et al. (2019): 30 robots whose masses differ by 15 %, and
whose centres of mass and joints by 2 cm."""
MOST_CORNERS, SAMPLED = 1024, 2
"""Corners of the ranges that are all tried on a robot, and how many gaps are drawn instead where there are more."""


@dataclass(frozen=True)
class Ranges:
    """Dials and how far each may be turned; a gap is drawn from all of them at once."""

    dials: tuple[Draw, ...]
    models: int = 0
    """How many gaps there are to draw from; 0 draws a new one every time."""

    @staticmethod
    def parse(text: str) -> "Ranges":
        """Read `mass=0.8:1.25,delay=0:1`, `mass:*=0.85:1.15,models=30` or `inertial`.

        A factor goes down as often as up, and a whole number stays one. `*` is every body for itself.
        """
        dials: list[Draw] = []
        models = 0
        text = ",".join(WORDS.get(part.strip(), part) for part in text.split(","))
        for part in text.split(","):
            name, _, ends = part.partition("=")
            name = name.strip()
            if name == "models":
                models = _count(part)
                continue
            try:
                low, high = (float(end) for end in ends.split(":"))
            except ValueError:
                raise Problem(f"range {part.strip()!r} needs two numbers, as in mass=0.8:1.25") from None
            if low > high:
                raise Problem(f"range {part.strip()!r} ends before it begins: give the smaller number first")
            kind = KINDS.get(name.partition(":")[0])
            if kind is not None and kind.words:
                raise Problem(f"range {part.strip()!r} makes no sense: {name} is set by a {kind.range}")
            dials.append(Draw(name, low, high, factor=kind is not None and kind.unit == FACTOR and low > 0))
        for end in ("low", "high"):  # a gap refuses names and values that make no sense
            Gap(tuple((one.name, getattr(one, end)) for one in dials))
        return Ranges(tuple(dials), models)

    def on(self, model: mujoco.MjModel) -> "Ranges":
        """The same for one robot: a dial of every body becomes one for each body that it fits."""
        dials: list[Draw] = []
        for one in self.dials:
            name, _, body = one.name.partition(":")
            if body != EVERY:
                dials.append(one)
                continue
            fitting = [body for body in robot_bodies(model) if KINDS[name].misfit(model, body) is None]
            dials += [replace(one, name=f"{name}:{body}") for body in fitting]
        if self.dials and not dials:
            raise Problem("none of these ranges fits a body of this robot")
        return replace(self, dials=tuple(dials))

    def draw(self, rng: np.random.Generator) -> Gap:
        """A gap somewhere within."""
        return Gap(tuple((one.name, _value(one, rng)) for one in self.dials))

    def pool(self, model: mujoco.MjModel, seed: int = 0) -> tuple[Gap, ...]:
        """The gaps to draw from on this robot, the same for the same seed; none when any may be drawn."""
        own = self.on(model)
        return tuple(own.draw(stream(seed, "gap", "pool", number)) for number in range(self.models))

    def check(self, model: mujoco.MjModel) -> None:
        """Refuse ranges with a corner that does not fit the robot or cannot be simulated."""
        own = self.on(model)
        ends = [sorted({one.low, one.high}) for one in own.dials]
        corners = [tuple(end[0] for end in ends), tuple(end[-1] for end in ends)]
        if 2 ** len(ends) <= MOST_CORNERS:
            corners = list(product(*ends))
        gaps = [Gap(tuple((one.name, value) for one, value in zip(own.dials, at, strict=True))) for at in corners]
        if 2 ** len(ends) > MOST_CORNERS:
            gaps += [own.draw(stream(0, "gap", "check", number)) for number in range(SAMPLED)]
        for gap in gaps:
            gap.apply(model)


def _count(part: str) -> int:
    number = part.partition("=")[2].strip()
    if not number.isdecimal() or not 1 <= int(number) <= 10_000:
        raise Problem(f"range {part.strip()!r} needs a whole number from 1 to 10000, as in models=30")
    return int(number)


def _value(one: Draw, rng: np.random.Generator) -> float:
    if KINDS[one.name.partition(":")[0]].whole:
        return float(rng.integers(int(one.low), int(one.high) + 1))
    return one.value(rng)
