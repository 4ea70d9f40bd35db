"""Random gaps for robustness studies: a few dials, each turned a little."""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Int, stream
from isthmus.gaps.kinds import KINDS
from isthmus.sim.anatomy import robot_bodies

FEWEST, MOST = 2, 5
"""Dials in a random gap."""
DIGITS = 3
"""Significant digits of a drawn value, so that it can be read and typed."""


@dataclass(frozen=True)
class Draw:
    """A dial that a random gap may turn, and how far: uniformly, or by a factor that goes down as often as up."""

    name: str
    low: float
    high: float
    factor: bool = False

    def value(self, rng: np.random.Generator) -> float:
        """A value of the dial."""
        if self.factor:
            return math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        return rng.uniform(self.low, self.high)


def _factor(name: str, most: float) -> Draw:
    return Draw(name, 1 / most, most, factor=True)


MIXTURE = (
    Draw("tilt", 5.0, 30.0),
    _factor("gravity", 1.1),
    _factor("contact-friction", 1.5),
    _factor("link-length", 1.1),
    _factor("mass", 1.25),
    _factor("damping", 2.0),
    _factor("armature", 1.25),
    _factor("torque-scale", 1.15),
    Draw("delay", 1, 1),
    Draw("backlash", 0.02, 0.1),
    Draw("motor-noise", 0.05, 0.2),
    Draw("sensor-bias", 0.001, 0.01),
    Draw("sensor-noise", 0.001, 0.01),
)
"""What is done to a body is done to one of those it fits; motor noise comes with one of the correlations below."""
CORRELATIONS = (0.0, 0.9, 1.0)


def draw(seed: int, model: mujoco.MjModel) -> tuple[tuple[str, float], ...]:
    """The settings of the random gap of that seed, for that robot."""
    rng = stream(seed, "gap")
    fitting = [one for one in MIXTURE if KINDS[one.name].fits(model)]
    count = min(int(rng.integers(FEWEST, MOST + 1)), len(fitting))
    chosen: Int = rng.permutation(len(fitting))[:count]
    return tuple(setting for one in chosen for setting in _settings(fitting[int(one)], seed, model))


def _settings(one: Draw, seed: int, model: mujoco.MjModel) -> list[tuple[str, float]]:
    """The dial at its value, with the body it is for or the dial that goes with it."""
    rng = stream(seed, "gap", one.name)
    value = float(f"{one.value(rng):.{DIGITS}g}")
    kind = KINDS[one.name]
    if kind.body != "no":
        fitting = [body for body in robot_bodies(model) if kind.misfit(model, body) is None]
        return [(f"{one.name}:{fitting[rng.integers(len(fitting))]}", value)]
    if one.name == "motor-noise":
        return [(one.name, value), ("noise-correlation", float(rng.choice(np.array(CORRELATIONS))))]
    return [(one.name, value)]
