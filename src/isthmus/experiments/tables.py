"""Tables as text."""

from collections.abc import Sequence
from dataclasses import dataclass


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in markdown; columns whose name ends in a space hold numbers."""
    rule = ["---:" if column.endswith(" ") else "---" for column in columns]
    texts = [[column.strip() for column in columns], rule, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in texts)


@dataclass(frozen=True)
class Section:
    """A part of a page: a heading, text, a table, and a list."""

    title: str
    columns: tuple[str, ...]
    """Columns whose name ends in a space hold numbers."""
    rows: Sequence[Sequence[str]]
    text: tuple[str, ...] = ()
    points: tuple[str, ...] = ()

    def to_markdown(self) -> str:
        """The section as markdown."""
        points = ["\n".join(f"- {point}" for point in self.points)] if self.points else []
        return "\n\n".join((f"## {self.title}", *self.text, table(self.columns, self.rows), *points))
