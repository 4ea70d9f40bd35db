"""The pieces of work that studies are made of; most are one crossing in its own folder, taken up anywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from isthmus.core import Problem
from isthmus.transfer import Config, Result, RunFolder, run_transfer, shared_context

LOSSES = 3
"""How often a piece of work may lose the worker under it before it is given up."""


class Work(Protocol):
    """Something to be done by any process; a plain value, so that it can be sent there."""

    @property
    def name(self) -> str:
        """As people read it."""
        ...


W = TypeVar("W", bound=Work)
R = TypeVar("R")


@dataclass(frozen=True)
class Unit:
    """One crossing to run."""

    name: str
    config: Config
    folder: Path
    traces: bool = True
    """Whether episodes are recorded for a report."""


Deliver = Callable[[Unit, Result], None]
"""Gets every result as it comes, in no particular order."""


def run_unit(unit: Unit) -> Result:
    """Run `unit`, or go on with it."""
    config = unit.config
    context = shared_context(config.task, config.policy, config.seed)
    return run_transfer(config, RunFolder(unit.folder), resume=True, traces=unit.traces, context=context)


def attempt(run: Callable[[W], R], work: W) -> R | Problem:
    """Do `work`; a problem is given back, for raised ones change on the way between processes."""
    try:
        return run(work)
    except Problem as problem:
        return problem


def settle(work: Work, outcome: R | Problem) -> R:
    """The result, or the problem with the work's name to it."""
    if isinstance(outcome, Problem):
        raise Problem(f"{work.name}: {outcome}") from outcome
    return outcome


def given_up(work: Work) -> Problem:
    """What to say of work whose workers keep dying."""
    return Problem(
        f"{work.name}: its worker died {LOSSES + 1} times: if memory is short use fewer workers; "
        "the same command goes on where it was"
    )
