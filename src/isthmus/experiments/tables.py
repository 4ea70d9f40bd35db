"""Tables as text."""

from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in markdown; columns that end in a space hold numbers."""
    rule = ["---:" if column.endswith(" ") else "---" for column in columns]
    texts = [[column.strip() for column in columns], rule, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in texts)
