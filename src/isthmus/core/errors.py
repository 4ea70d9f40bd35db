"""The one error a user causes and can mend."""

import difflib
from collections.abc import Iterable

LONGEST = 1500
"""Characters of a problem."""
LONGEST_NAME = 200
"""Characters of a name that others are looked for which are like it."""


class Problem(Exception):  # noqa: N818 - it is the user's problem to solve, not a fault of the program
    """Bad input, said in one sentence: what was wrong, where, and what would be right.

    The command line prints the sentence and exits with code 2.
    """

    def __init__(self, sentence: object) -> None:
        """Keep to one line of bounded length, whatever a file or another library has put into it."""
        text = " ".join(str(sentence).splitlines())
        super().__init__(text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ...")


class Lost(Problem):
    """A robot that is not to be heard of, or was stopped, in the middle of an episode: what was collected is kept."""


def unknown_name(kind: str, name: str, choices: Iterable[str]) -> Problem:
    """The problem with a name that does not exist: lists the valid ones and the nearest."""
    valid = sorted(choices)
    # Of a name from a file that is many megabytes long, the comparison alone would take a gigabyte.
    near = difflib.get_close_matches(name, valid, n=1, cutoff=0.5) if len(name) <= LONGEST_NAME else []
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return Problem(f"unknown {kind} {name[:LONGEST_NAME]!r}: choose from {', '.join(valid)}{hint}")


def check_settings(settings: Iterable[tuple[str, object, bool]]) -> None:
    """Refuse the first of (name, value, whether it makes sense) that does not."""
    for name, value, sensible in settings:
        if not sensible:
            raise Problem(f"{name} cannot be {value}: see --help for what it means")


def check_range(name: str, value: float, least: float, most: float) -> None:
    """Refuse a number outside `least` to `most`, or one that is not a number at all."""
    if value < least:
        raise Problem(f"{name} must be at least {_brief(least)}, got {_brief(value)}")
    if not value <= most:
        raise Problem(f"{name} must be at most {_brief(most)}, got {_brief(value)}")


def _brief(value: float) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"
