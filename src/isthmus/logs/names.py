"""Which joint a name in a log means: the words in it, however they are written."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from isthmus.core import Float
from isthmus.logs.assign import assign

GENERIC = frozenset(
    (
        *(
            "joint",
            "joints",
            "motor",
            "link",
            "pos",
            "position",
            "positions",
            "vel",
            "velocity",
            "velocities",
            "q",
            "qd",
        ),
        *("dq", "dof", "actuator", "act", "state", "states", "cmd", "command", "target", "goal", "present", "angle"),
        *(
            "deg",
            "rad",
            "torque",
            "effort",
            "tau",
            "rev",
            "the",
            "jnt",
            "j",
            "m",
            "des",
            "desired",
            "measured",
            "speed",
        ),
        *(
            "controller",
            "control",
            "ctrl",
            "data",
            "actual",
            "servo",
            "observation",
            "action",
            "value",
            "degrees",
            "dot",
        ),
    )
)
"""Words that say what is measured, not where."""
SAME = {
    "l": ("left",),
    "r": ("right",),
    "f": ("front",),
    "h": ("rear",),
    "hind": ("rear",),
    "back": ("rear",),
    "b": ("rear",),
    "fl": ("front", "left"),
    "fr": ("front", "right"),
    "rl": ("rear", "left"),
    "rr": ("rear", "right"),
    "hl": ("rear", "left"),
    "hr": ("rear", "right"),
    "bl": ("rear", "left"),
    "br": ("rear", "right"),
    "lf": ("front", "left"),
    "rf": ("front", "right"),
    "lh": ("rear", "left"),
    "rh": ("rear", "right"),
    "haa": ("hip",),
    "abad": ("hip",),
    "hfe": ("thigh",),
    "kfe": ("calf",),
    "shank": ("calf",),
    "knee": ("calf",),
    "uarm": ("upperarm",),
}
"""Words that mean the same."""
ALIKE = 0.8
"""Likeness at which two words count as one that was written differently."""
ENOUGH = 0.6
"""Likeness of names from which on they may mean the same joint."""
MARGIN = 0.05
"""By how much a name has to be more like one joint than like any other."""
LONGEST = 100
"""Characters of a name that are looked at."""


def words_of(name: str) -> tuple[str, ...]:
    """The words in a name that say which joint it is, and its numbers."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name[:LONGEST])
    parts = re.findall(r"[a-z]+|\d+", spaced.lower())
    kept = [part for part in parts if part not in GENERIC]
    return tuple(dict.fromkeys(word.lstrip("0") or "0" for part in kept for word in SAME.get(part, (part,))))


def match_names(labels: Sequence[str], joints: Sequence[str]) -> list[int | None]:
    """For each joint the label that means it; None where no label clearly does."""
    meant = _particular([words_of(label) for label in labels])
    named = _particular([words_of(joint) for joint in joints])
    if not labels or _only_numbers(meant, named):
        return [None] * len(joints)
    likeness = np.array([[_likeness(one, other) for one in meant] for other in named])  # (joints, labels)
    rows, columns = assign(-likeness)
    found: list[int | None] = [None] * len(joints)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        best = likeness[row, column]
        others = max(_beside(likeness[row], column), _beside(likeness[:, column], row))
        if best >= ENOUGH and best >= others + MARGIN:
            found[row] = column
    return found


def _particular(names: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The names without the words that all of them have."""
    common = set(names[0]).intersection(*names) if len(names) > 1 else set[str]()
    return [tuple(word for word in words if word not in common) for words in names]


def _beside(values: Float, place: int) -> float:
    return float(np.delete(values, place).max(initial=0.0))


def _only_numbers(meant: Sequence[tuple[str, ...]], named: Sequence[tuple[str, ...]]) -> bool:
    """Whether labels are nothing but numbers, and not those of the joints: then they say no more than an order."""
    if not all(all(word.isdigit() for word in words) for words in meant):
        return False
    return {words for words in meant if words} != {words for words in named if words}


def _likeness(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Share of the words of two names that are alike, 0 to 1."""
    if not one or not other:
        return 0.0
    left, alike = list(other), 0.0
    for word in one:
        ratios = [_ratio(word, beside) for beside in left]
        if ratios and max(ratios) >= ALIKE:
            alike += max(ratios)
            left.pop(ratios.index(max(ratios)))
    return 2 * alike / (len(one) + len(other))


def _ratio(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if one.isdigit() or other.isdigit():
        return 0.0
    if min(len(one), len(other)) >= 3 and (one.startswith(other) or other.startswith(one)):
        return 0.9
    return SequenceMatcher(None, one, other).ratio() if min(len(one), len(other)) > 2 else 0.0
