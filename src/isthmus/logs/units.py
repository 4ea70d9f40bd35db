"""Guess what a series measures, and in which unit, from its name and its size. A guess comes with its reason."""

import re
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float

KINDS = (
    ("velocity", ("vel", "speed", "dot", "rate", "gyro", "omega", "qd", "dq", "qvel")),
    ("torque", ("torque", "effort", "tau")),
    ("current", ("current", "amps")),
    ("voltage", ("volt",)),
    ("temperature", ("temp",)),
    ("acceleration", ("acc",)),
    ("orientation", ("quat", "orientation", "rpy", "euler")),
    ("position", ("pos", "angle", "theta", "alpha", "q", "qpos", "joint", "goal", "target", "state", "action")),
)
"""What words in a name stand for; the first kind that fits is taken, so that joint_vel is a velocity."""
UNITS = {"torque": "N m", "current": "A", "voltage": "V", "temperature": "°C", "acceleration": "m/s²"}
NAMED = (
    ("velocity", "deg/s", re.compile(r"(?:^|[^a-z])(?:deg(?:rees?)?\s*(?:/|_per_|p|_)?s(?:ec)?|dps)[\])]?$")),
    ("velocity", "rad/s", re.compile(r"(?:^|[^a-z])rad(?:ians?)?\s*(?:/|_per_|p|_)?s(?:ec)?[\])]?$")),
    ("velocity", "rpm", re.compile(r"(?:^|[^a-z])(?:rpm|rev\s*/\s*min)[\])]?$")),
    ("velocity", "deg/s", re.compile(r"°\s*/\s*s(?:ec)?[\])]?$")),
    ("velocity", "m/s", re.compile(r"(?:^|[^a-z])m\s*/\s*s(?:ec)?[\])]?$")),
    ("position", "deg", re.compile(r"(?:(?:^|[^a-z])deg(?:rees?)?|°)[\])]?$")),
    ("position", "rad", re.compile(r"(?:^|[^a-z])rad(?:ians?)?[\])]?$")),
    ("torque", "N m", re.compile(r"(?:^|[^a-z])n[ .*·_]?m[\])]?$")),
    ("voltage", "V", re.compile(r"[\[(]v[\])]$|(?:^|[^a-z])volts?$")),
    ("current", "A", re.compile(r"[\[(]a[\])]$|(?:^|[^a-z])amps?$")),
)
"""Units that a name may end in, with what is measured in them."""
BRACKET = re.compile(r"[\[(][^\])]*[^\])\d][\])]\s*$")
"""A unit at the end of a name."""
TURNS = 4 * np.pi
"""Joints with stops do not turn further than this many radians."""
FAST = 60.0
"""rad/s that robot joints hardly exceed."""


@dataclass(frozen=True)
class Guess:
    """What a series seems to be."""

    kind: str
    """position, velocity, torque, ...; empty where nothing suggests one."""
    unit: str
    reason: str


def guess_unit(name: str, values: Float) -> Guess:
    """What the numbers (T, k) of that name measure."""
    kind = kind_of(name)
    finite = values[np.isfinite(values)]
    named = next((unit for of, unit, pattern in NAMED if of == kind and pattern.search(name.strip().lower())), "")
    if named and len(finite):
        return Guess(kind, named, "by its name")
    if not kind or not len(finite):
        return Guess(kind, "", "its name says nothing" if len(finite) else "it has no numbers")
    if np.isin(finite, (0.0, 1.0)).all():
        return Guess("", "", "it is on or off")
    largest = float(np.quantile(np.abs(finite), 0.99))
    if kind == "position":
        return _angle(finite, largest)
    if kind == "velocity":
        fast = largest > FAST
        return Guess(kind, "deg/s" if fast else "rad/s", f"reaches {largest:.2g}" + ", too fast for rad/s" * fast)
    return Guess(kind, UNITS.get(kind, ""), "by its name")


def _angle(finite: Float, largest: float) -> Guess:
    """Degrees and ticks are told from radians by how far a joint can turn."""
    if largest > 100 and np.mean(finite == np.round(finite)) > 0.99:
        return Guess("position", "ticks", f"has whole numbers up to {largest:.0f}")
    if largest > TURNS:
        return Guess("position", "deg", f"reaches {largest:.0f}, more than two turns if it were in radians")
    return Guess("position", "rad", f"stays below {largest:.2g}")


def kind_of(name: str) -> str:
    """The quantity that the last part of a series' name suggests."""
    plain = BRACKET.sub("", name) or name
    words = re.split(r"[^a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", plain.rsplit("/", 1)[-1]).lower())
    for kind, hints in KINDS:
        for hint in hints:
            if any(word == hint or (len(hint) > 2 and word.startswith(hint)) for word in words):
                return kind
    return next((kind for kind, _, pattern in NAMED if pattern.search(name.strip().lower())), "")
