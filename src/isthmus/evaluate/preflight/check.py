"""One check of a robot or a policy, and how it came out."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """Something that has to hold, and what was measured."""

    name: str
    passed: bool
    measured: str
    remedy: str = ""
    """What to do; empty for a check that passed."""


def guarded(name: str, remedy: str, measure: Callable[[], tuple[bool, str]]) -> Check:
    """The check that `measure` makes: whether it passed, and the figure. An exception is a failure that is reported."""
    try:
        passed, measured = measure()
    except Exception as error:  # a user's function fails in its own manner
        reason = " ".join(str(error).split())[:120]
        passed, measured = False, f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    return Check(name, passed, measured, "" if passed else remedy)
