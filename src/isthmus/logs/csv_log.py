"""CSV files: one column a number, or vectors in cells as `"[0.1, 0.2]"`."""

import codecs
import csv
import re
from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import read_regular
from isthmus.logs.cells import column_of_cells, is_missing, numbers, with_point
from isthmus.logs.clocks import clock_of, moments, one_after_the_other, seconds, with_whole_stamps
from isthmus.logs.columns import by_prefix
from isthmus.logs.series import Log, make_log

LARGEST = 1 << 30
MOST_COLUMNS = 10_000
DELIMITERS = ",;\t|"
"""A space separates columns only where none of these does: it may be part of a name."""
LONGEST_CELL = 1 << 20
COMMENTS = ("#", "%")
"""What lines before the header may begin with; the last of them may be the header."""
NAMELESS = re.compile(r"|Unnamed: \d+")
"""Names of a column of row numbers, as pandas writes it."""
TIME_UNIT = re.compile(r"[\[(]?(?:ns|nsec|us|µs|usec|ms|msec|s|sec|secs|seconds)[\])]?")
"""What stands under the name of the time column in a row of units."""
BYTE_ORDERS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_csv(path: Path, *, from_zero: bool = True) -> Log:
    """The columns of a CSV file as series over its time column, which is shifted to begin `from_zero`."""
    columns, texts, notes = _columns(path, _text(path).splitlines())
    header = [*columns, *texts]
    columns = with_whole_stamps(columns)
    clock = clock_of([name for name, values in columns.items() if values.ndim == 1])
    time, assumed = _dates(path, header, texts) if clock is None else seconds(clock, columns.pop(clock))
    if texts:
        notes.append(f"columns without numbers were left out: {', '.join([*texts][:10])}")
    known = np.isfinite(time)
    if not known.all():
        notes.append(f"{np.count_nonzero(~known)} rows without a time were left out")
        time, columns = time[known], {name: values[known] for name, values in columns.items()}
    notes += [assumed] if assumed else []
    time = one_after_the_other(time, columns, notes)
    return make_log(path, "CSV", by_prefix(columns, time), notes, from_zero=from_zero)


def _columns(path: Path, lines: list[str]) -> tuple[dict[str, Float], dict[str, tuple[str, ...]], list[str]]:
    """The columns of numbers, those of text, and notes."""
    lines, before = _without_comments(lines)
    whole = _whole_numbers(path, lines)
    if whole is not None:
        return whole, {}, []
    header, rows, notes = _rows(path, lines, before)
    cells = {
        name: column
        for name, column in zip(header, zip(*rows, strict=True), strict=True)
        if not NAMELESS.fullmatch(name)
    }
    columns = {name: found for name, column in cells.items() if (found := column_of_cells(column)) is not None}
    return columns, {name: column for name, column in cells.items() if name not in columns}, notes


def _whole_numbers(path: Path, lines: list[str]) -> dict[str, Float] | None:
    """The columns of a table in which every cell is a number, several times as fast; None for any other."""
    delimiter = _delimiter(next(iter(lines), ""))
    first = _cells(path, lines[:1])
    header = _names(first[0]) if first else list[str]()
    if not 1 < len(header) <= MOST_COLUMNS or len({*header}) < len(header) or numbers(header) is not None:
        return None
    try:
        table = (
            np.loadtxt(lines[1:], delimiter=delimiter, comments=None, ndmin=2) if len(lines) > 1 else np.zeros((0, 0))
        )
    except ValueError:
        return None
    if not len(table) or table.shape[1] != len(header) or np.isnan(table).all(axis=0).any():
        return None
    return {name: table[:, place] for place, name in enumerate(header) if not NAMELESS.fullmatch(name)}


def _names(row: list[str]) -> list[str]:
    return [name.strip().lstrip("#%").strip() for name in row]


def _text(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a mark of its byte order, as spreadsheets write it."""
    content = read_regular(path, limit=LARGEST, follow=True)
    try:
        return content.decode(BYTE_ORDERS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not text in UTF-8 (byte {error.start}): a CSV log has to be") from error


def _dates(path: Path, header: list[str], texts: dict[str, tuple[str, ...]]) -> tuple[Float, str | None]:
    """The times of a column of dates, which is taken out of those with text, and what was assumed."""
    name = clock_of([*texts])
    if name is None:
        raise Problem(
            f"{path} has no time column: name one of its columns time or timestamp ({', '.join(header[:10])})"
        )
    cells = texts.pop(name)
    time = moments(cells)
    if time is None:
        wrong = next((cell for cell in cells if moments([cell]) is None), "")
        raise Problem(
            f"{path}: its column {name} has {wrong[:40]!r}, which is no time: numbers are read, dates as "
            "2024-05-01T12:00:00.25 and times of day as 12:00:00.25"
        )
    return time, None


def _rows(path: Path, lines: list[str], before: int) -> tuple[list[str], list[list[str]], list[str]]:
    """The header, the rows that are as long as it, and a note where rows were left out.

    So many lines came `before` the header.
    """
    table = _cells(path, lines)
    if len(table) < 2:
        raise Problem(f"{path} has no rows: a CSV log is a header and one row a sample")
    header = _names(table[0])
    if len(header) > MOST_COLUMNS:
        raise Problem(f"{path} has {len(header):,} columns, at most {MOST_COLUMNS:,} are read")
    if numbers(header) is not None:
        raise Problem(f"{path} has no header: its first row has to name the columns")
    if twice := next((name for name in header if name and header.count(name) > 1), ""):
        raise Problem(f"{path} names a column twice: {twice[:80]!r}; give every column a name of its own")
    body, notes = [_without_end(row, len(header)) for row in table[1:]], list[str]()
    if len(body[-1]) != len(header) or (len(body) > 1 and _is_cut(body[-2], body[-1])):
        body.pop()
        notes.append(f"its last row, {len(body) + 2 + before}, was cut off and is left out")
    for number, row in enumerate(body, 2 + before):
        if len(row) != len(header):
            raise Problem(f"{path}, row {number}: {len(row)} cells under a header of {len(header)}")
    body = _without_headers(table[0], body, notes)
    if body and _has_units(header, body[0]):
        header = [_with_unit(name, unit) for name, unit in zip(header, body.pop(0), strict=True)]
    if not body:
        raise Problem(f"{path} has no whole row: a CSV log is a header and one row a sample")
    return header, body, notes


def _without_end(row: list[str], columns: int) -> list[str]:
    """A row without the empty cell after a delimiter at its end."""
    return row[:-1] if len(row) == columns + 1 and not row[-1].strip() else row


def _without_headers(header: list[str], body: list[list[str]], notes: list[str]) -> list[list[str]]:
    """The rows without those that repeat the header, as where a log was appended to another."""
    kept = [row for row in body if row[0] != header[0] or row != header]
    if again := len(body) - len(kept):
        notes.append(f"its header comes {'once' if again == 1 else f'{again} times'} more between its rows")
    return kept


def _has_units(header: list[str], row: list[str]) -> bool:
    """Whether a row below the header has a unit below each name, and that of a time below the clock's."""
    clock = clock_of(header)
    return (
        clock is not None
        and TIME_UNIT.fullmatch(row[header.index(clock)].strip().lower()) is not None
        and numbers(row) is None
        and all(numbers([cell]) is None for cell in row)
    )


def _with_unit(name: str, unit: str) -> str:
    plain = unit.strip().strip("[]()").strip()
    return f"{name} [{plain}]" if plain and plain != "-" else name


def _cells(path: Path, lines: list[str]) -> list[list[str]]:
    """The cells of all rows, with decimal points."""
    delimiter = _delimiter(next(iter(lines), ""))
    csv.field_size_limit(LONGEST_CELL)
    try:
        table = [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
    except csv.Error as error:
        raise Problem(f"{path} is not a CSV file: {error}") from error
    if delimiter == ",":
        return table
    return [[with_point(cell) for cell in row] for row in table]


def _without_comments(lines: list[str]) -> tuple[list[str], int]:
    """The lines from the header on, and how many came before it, without those that are empty.

    The last line of comments is the header where the first row after it has as many cells, and numbers in them.
    """
    lines = [line for line in lines if line.strip()]
    before = next((n for n, line in enumerate(lines) if not line.lstrip().startswith(COMMENTS)), len(lines))
    if not before or before == len(lines):
        return lines, 0
    delimiter, first = _delimiter(lines[before - 1]), lines[before]
    names, cells = lines[before - 1].strip().split(delimiter), first.split(delimiter)
    some = len(names) == len(cells) > 1 and any(numbers([cell]) is not None for cell in cells)
    if some or (numbers(cells) is not None and len(names) >= len(cells)):
        before -= 1
    return lines[before:], before


def _is_cut(before: list[str], last: list[str]) -> bool:
    """Whether a row has text where the row before it has a number, or a part of a vector."""
    return len(before) == len(last) and any(
        not is_missing(cell) and column_of_cells((cell,)) is None and column_of_cells((other,)) is not None
        for cell, other in zip(last, before, strict=True)
    )


def _delimiter(header: str) -> str:
    most = max(DELIMITERS, key=header.count)
    return most if most in header else " "
