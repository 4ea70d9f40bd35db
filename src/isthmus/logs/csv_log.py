"""CSV files: one column a number, or vectors in cells as `"[0.1, 0.2]"`."""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import read_regular
from isthmus.logs.clocks import clock_of, one_after_the_other, seconds
from isthmus.logs.columns import by_prefix
from isthmus.logs.series import Log, make_log

LARGEST = 1 << 30
MOST_COLUMNS = 10_000
DELIMITERS = ",;\t"
"""A space separates columns only where none of these does: it may be part of a name."""
LONGEST_CELL = 1 << 20
COMMENTS = ("#", "%")
"""What lines before the header may begin with; the last of them may be the header."""
NAMELESS = re.compile(r"|Unnamed: \d+")
"""Names of a column of row numbers, as pandas writes it."""
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")


def read_csv(path: Path, *, from_zero: bool = True) -> Log:
    """The columns of a CSV file as series over its time column, which is shifted to begin `from_zero`."""
    try:
        text = read_regular(path, limit=LARGEST, follow=True).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(f"{path} is not text in UTF-8 (byte {error.start}): a CSV log has to be") from error
    lines = text.splitlines()
    header, rows, notes = _rows(path, lines)
    columns = {
        name: column
        for name, cells in zip(header, zip(*rows, strict=True), strict=True)
        if not NAMELESS.fullmatch(name) and (column := _column(cells)) is not None
    }
    skipped = [name for name in header if name not in columns and not NAMELESS.fullmatch(name)]
    if skipped:
        notes.append(f"columns without numbers were left out: {', '.join(skipped[:10])}")
    clock = clock_of([name for name, values in columns.items() if values.ndim == 1])
    if clock is None:
        raise Problem(
            f"{path} has no time column: name one of its columns time or timestamp ({', '.join(header[:10])})"
        )
    time, assumed = seconds(clock, columns.pop(clock))
    known = np.isfinite(time)
    if not known.all():
        notes.append(f"{np.count_nonzero(~known)} rows without a time were left out")
        time, columns = time[known], {name: values[known] for name, values in columns.items()}
    notes += [assumed] if assumed else []
    time = one_after_the_other(time, columns, notes)
    return make_log(path, "CSV", by_prefix(columns, time), notes, from_zero=from_zero)


def _rows(path: Path, lines: list[str]) -> tuple[list[str], list[list[str]], list[str]]:
    """The header, the rows that are as long as it, and a note where a last row that was cut off is left out."""
    lines, before = _without_comments(lines)
    table = _cells(path, lines)
    if len(table) < 2:
        raise Problem(f"{path} has no rows: a CSV log is a header and one row a sample")
    header = [name.strip().lstrip("#%").strip() for name in table[0]]
    if len(header) > MOST_COLUMNS:
        raise Problem(f"{path} has {len(header):,} columns, at most {MOST_COLUMNS:,} are read")
    if _numbers(header) is not None:
        raise Problem(f"{path} has no header: its first row has to name the columns")
    if twice := next((name for name in header if name and header.count(name) > 1), ""):
        raise Problem(f"{path} names a column twice: {twice!r}")
    body, notes = table[1:], list[str]()
    if len(body[-1]) != len(header) or (len(body) > 1 and _is_cut(body[-2], body[-1])):
        body.pop()
        notes.append(f"its last row, {len(body) + 2 + before}, was cut off and is left out")
    if not body:
        raise Problem(f"{path} has no whole row: a CSV log is a header and one row a sample")
    for number, row in enumerate(body, 2 + before):
        if len(row) != len(header):
            raise Problem(f"{path}, row {number}: {len(row)} cells under a header of {len(header)}")
    return header, body, notes


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
    return [[cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in table]


def _without_comments(lines: list[str]) -> tuple[list[str], int]:
    """The lines from the header on, and how many came before it, without those that are empty.

    The last line of comments is the header where the first row after it has as many cells, and all are numbers.
    """
    lines = [line for line in lines if line.strip()]
    before = next((n for n, line in enumerate(lines) if not line.lstrip().startswith(COMMENTS)), len(lines))
    if not before or before == len(lines):
        return lines, 0
    delimiter, first = _delimiter(lines[before - 1]), lines[before]
    cells = first.split(delimiter)
    if _numbers(cells) is not None and len(lines[before - 1].strip().split(delimiter)) >= len(cells):
        before -= 1
    return lines[before:], before


def _is_cut(before: list[str], last: list[str]) -> bool:
    """Whether a row has text where the row before it has a number, or a part of a vector."""
    return len(before) == len(last) and any(
        cell.strip() and _column((cell,)) is None and _column((other,)) is not None
        for cell, other in zip(last, before, strict=True)
    )


def _delimiter(header: str) -> str:
    most = max(DELIMITERS, key=header.count)
    return most if most in header else " "


def _column(cells: Iterable[str]) -> Float | None:
    """The numbers of a column (T,), or its vectors (T, k); None for text. An empty cell is NaN."""
    cells = tuple(cells)
    plain = _numbers(cells)
    if plain is not None:
        return plain
    if not cells[0].lstrip().startswith("["):
        return None
    vectors = list(_vectors(cells))
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        return None
    return np.array(vectors)


def _numbers(cells: Iterable[str]) -> Float | None:
    try:
        numbers = [float(cell) if cell.strip() else math.nan for cell in cells]
    except ValueError:
        words = {"true": 1.0, "false": 0.0}
        if all(cell.strip().lower() in words for cell in cells):
            return np.array([words[cell.strip().lower()] for cell in cells])
        return None
    return None if all(math.isnan(number) for number in numbers) else np.array(numbers)


def _vectors(cells: Iterable[str]) -> Iterator[list[float]]:
    for cell in cells:
        try:
            found: object = json.loads(cell)
        except (ValueError, RecursionError):
            yield []
            continue
        whole = isinstance(found, list) and all(isinstance(one, int | float) for one in found)  # pyright: ignore[reportUnknownVariableType]
        yield [float(one) for one in found] if whole else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportGeneralTypeIssues]
