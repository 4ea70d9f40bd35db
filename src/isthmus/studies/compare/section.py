"""A part of a page: text, a table, points."""

from collections.abc import Sequence
from dataclasses import dataclass


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


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in markdown."""
    rule = ["---:" if column.endswith(" ") else "---" for column in columns]
    lines = [[column.strip() for column in columns], rule, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)
