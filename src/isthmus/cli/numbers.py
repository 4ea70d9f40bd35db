"""Refuse absurd numbers on the command line, before they exhaust the machine."""

import dataclasses
from typing import Any, cast

from isthmus.core import check_range

LARGEST = 10**9
MOST = {
    "seed": 2**63 - 1,
    "episodes": 10_000,
    "oracle_episodes": 10_000,
    "evaluation_episodes": 10_000,
    "seeds": 10_000,
    "gaps": 10_000,
    "repeats": 10_000,
    "workers": 1_000,
    "worlds": 100_000,
    "hidden": 10_000,
    "placed": 10_000,
    "history": 1_000,
}
"""The largest sensible value of an option, by its name; `LARGEST` for all others."""


def check_numbers(command: object, prefix: str = "") -> None:
    """Refuse the first number of a parsed command that is not finite, or beyond what any run needs."""
    for field in dataclasses.fields(cast("Any", command)):
        value: object = getattr(command, field.name)
        name = f"{prefix}{field.name.replace('_', '-')}"
        if dataclasses.is_dataclass(value):
            check_numbers(value, f"{name}.")
        for number in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool):
                most = MOST.get(field.name, LARGEST)
                check_range(name, number, -most, most)
