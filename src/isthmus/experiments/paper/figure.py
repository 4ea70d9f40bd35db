"""What figures have in common: cases, and ways to show what came of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.experiments.drawing import Figure as Drawing
from isthmus.experiments.paper.case import Case
from isthmus.experiments.paper.tally import Tally


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, to be made again."""

    name: str
    quick: bool
    title: str
    about: tuple[str, ...]
    """What is shown and how to read it, a paragraph each."""
    cases: tuple[Case, ...]
    columns: tuple[str, ...]
    """Of its table; those that end in a space hold numbers."""
    brief: tuple[str, ...]
    """Those that fit on a terminal."""
    row: Callable[[Tally], tuple[str, ...]]
    """What the table says of a case."""
    figures: Callable[[Tally], dict[str, Any]]
    """The same as plain data."""
    draw: Callable[[Sequence[Tally]], Drawing]

    @property
    def robots(self) -> tuple[str, ...]:
        """Every robot in it."""
        return tuple(dict.fromkeys(case.robot for case in self.cases))

    @property
    def folder(self) -> str:
        """Where its cells go: those of a quick look are others."""
        return f"{self.name}-quick" if self.quick else self.name
