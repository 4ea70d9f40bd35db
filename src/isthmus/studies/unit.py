"""The piece of work that studies are made of: one crossing in its own folder, which can be taken up anywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isthmus.core import Problem
from isthmus.transfer import Config, Result, RunFolder, cross

LOSSES = 3
"""How often a unit may lose the worker under it before it is given up."""


@dataclass(frozen=True)
class Unit:
    """One crossing to run."""

    name: str
    config: Config
    folder: Path


Deliver = Callable[[Unit, Result], None]
"""Gets every result as it comes, in no particular order."""


def attempt(unit: Unit) -> Result | Problem:
    """Run `unit`, or go on with it; a problem is given back, for raised ones change on the way between processes."""
    try:
        return cross(unit.config, RunFolder(unit.folder), resume=True)
    except Problem as problem:
        return problem


def settle(unit: Unit, outcome: Result | Problem) -> Result:
    """The result, or the problem with the unit's name to it."""
    if isinstance(outcome, Problem):
        raise Problem(f"{unit.name}: {outcome}") from outcome
    return outcome


def given_up(unit: Unit) -> Problem:
    """What to say of a unit whose workers keep dying."""
    return Problem(
        f"{unit.name}: its worker died {LOSSES + 1} times: if memory is short use fewer workers; "
        "the same command goes on where it was"
    )
