"""A part of a page: text, a table, points."""

from collections.abc import Sequence
from dataclasses import dataclass

from isthmus.experiments.tables import table


@dataclass(frozen=True)
class Section:
    """What stands under a heading."""

    title: str
    columns: tuple[str, ...]
    """Those that end in a space hold numbers."""
    rows: Sequence[Sequence[str]]
    text: tuple[str, ...] = ()
    points: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """As text."""
        points = ["\n".join(f"- {point}" for point in self.points)] if self.points else []
        return "\n\n".join((f"## {self.title}", *self.text, table(self.columns, self.rows), *points))
