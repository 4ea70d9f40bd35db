"""Results go to stdout, as a table for people or as JSON for programs; everything else goes to stderr."""

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.measure import Measurement
from rich.progress import Progress
from rich.table import Table

# Without markup: [fetch] in a text is a text, not a style.
stdout = Console(highlight=False, markup=False)
WIDEST = 1000
"""Characters of a line that no table reaches."""
stderr = Console(stderr=True, highlight=False, markup=False)


@contextmanager
def started_late(progress: Progress) -> Generator[Progress]:
    """A display that is not yet on the screen: whoever reports the first progress starts it.

    Until then it is not sure that the input makes sense, and an error message should stand alone.
    """
    try:
        yield progress
    finally:
        progress.stop()


def print_json(value: object) -> None:
    """The only thing on stdout when --json is given."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table; columns whose name ends in a space are numbers, and align right."""
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2)
    )
    for number, column in enumerate(columns):
        justify = "right" if column.endswith(" ") else "left"
        table.add_column(column.strip(), justify=justify, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    if Measurement.get(stdout, stdout.options.update(max_width=WIDEST), table).maximum > stdout.width:
        table.padding = (0, 1)  # before numbers are broken into two lines
    stdout.print(table)
