"""A gap is a value: what differs between source and target, and by how much."""

import copy
import math
from dataclasses import dataclass

import mujoco

from isthmus.core import Problem, unknown_name
from isthmus.gaps.kinds import KINDS


@dataclass(frozen=True)
class Gap:
    """Settings of dials, applied in the order they are given in."""

    settings: tuple[tuple[str, float], ...] = ()

    @staticmethod
    def parse(text: str) -> "Gap":
        """Read `tilt=90` or `a=1,b=2`; `none` is no gap."""
        if text.strip() in ("", "none"):
            return Gap()
        settings: dict[str, float] = {}
        for part in text.split(","):
            name, equals, number = (piece.strip() for piece in part.partition("="))
            if name not in KINDS:
                raise unknown_name("gap", name, KINDS)
            kind = KINDS[name]
            try:
                value = float(number)
            except ValueError:
                value = math.nan
            if not equals or not kind.low <= value <= kind.high:
                raise Problem(
                    f"gap {part.strip()!r} needs a number from {kind.low:g} to {kind.high:g} {kind.unit}, "
                    f"as in {name}={kind.high:g}"
                )
            if name in settings:
                raise Problem(f"gap {name!r} is given twice in {text!r}: give it once")
            settings[name] = value
        return Gap(tuple(settings.items()))

    def __str__(self) -> str:
        """The text that `parse` reads back as this gap."""
        return ",".join(f"{name}={value:.12g}" for name, value in self.settings) or "none"

    def apply(self, model: mujoco.MjModel) -> mujoco.MjModel:
        """A copy of `model` with this gap in it."""
        changed = copy.copy(model)
        for name, value in self.settings:
            reason = KINDS[name].misfit(model)
            if reason:
                raise Problem(f"gap {name!r} does not fit this robot: {reason}")
            KINDS[name].apply(changed, value)
        return changed
