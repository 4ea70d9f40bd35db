"""Dials set at random, each within a range of its own: the dynamics that a robust policy is trained under."""

from dataclasses import dataclass
from itertools import product

import mujoco
import numpy as np

from isthmus.core import Problem
from isthmus.gaps.gap import Gap
from isthmus.gaps.kind import FACTOR
from isthmus.gaps.kinds import KINDS
from isthmus.gaps.mixture import Draw


@dataclass(frozen=True)
class Ranges:
    """Dials and how far each may be turned; a gap is drawn from all of them at once."""

    dials: tuple[Draw, ...]

    @staticmethod
    def parse(text: str) -> "Ranges":
        """Read `mass=0.8:1.25,delay=0:1`; a factor goes down as often as up, and a whole number stays one."""
        dials: list[Draw] = []
        for part in text.split(","):
            name, _, ends = part.partition("=")
            name = name.strip()
            try:
                low, high = (float(end) for end in ends.split(":"))
            except ValueError:
                raise Problem(f"range {part.strip()!r} needs two numbers, as in mass=0.8:1.25") from None
            if low > high:
                raise Problem(f"range {part.strip()!r} ends before it begins: give the smaller number first")
            kind = KINDS.get(name.partition(":")[0])
            dials.append(Draw(name, low, high, factor=kind is not None and kind.unit == FACTOR and low > 0))
        ranges = Ranges(tuple(dials))
        for end in ("low", "high"):  # a gap refuses names and values that make no sense
            Gap(tuple((one.name, getattr(one, end)) for one in dials))
        return ranges

    def draw(self, rng: np.random.Generator) -> Gap:
        """A gap somewhere within."""
        return Gap(tuple((one.name, _value(one, rng)) for one in self.dials))

    def check(self, model: mujoco.MjModel) -> None:
        """Refuse ranges with a corner that does not fit the robot or cannot be simulated."""
        for corner in product(*({one.low, one.high} for one in self.dials)):
            Gap(tuple((one.name, value) for one, value in zip(self.dials, corner, strict=True))).apply(model)


def _value(one: Draw, rng: np.random.Generator) -> float:
    if KINDS[one.name.partition(":")[0]].whole:
        return float(rng.integers(int(one.low), int(one.high) + 1))
    return one.value(rng)
