"""Cells of a table of text: numbers, vectors in whatever brackets, and words for what is missing."""

import json
import math
import re
from collections.abc import Sequence

import numpy as np

from isthmus.core import Float

MISSING = ("", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "--", "missing", "inf", "-inf")
"""Cells without a value, in small letters."""
WORDS = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*")
ARRAY = re.compile(r"(?:array|tensor)\((?:'\w', *)?(.*?)(?:, *dtype=[\w.]+)?\)", re.DOTALL)
"""A vector as Python prints it; as everything else in a log, it is read and not run."""
BRACKETS = {"[": "]", "(": ")", "{": "}"}


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING


def with_point(cell: str) -> str:
    """A number with a decimal comma as one with a point; anything else as it is."""
    return cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell


def numbers(cells: Sequence[str]) -> Float | None:
    """The numbers in cells (T,), NaN where one is missing; None for text, and where all are missing."""
    try:
        found = [float(cell) if cell.strip() else math.nan for cell in cells]
    except ValueError:
        plain = [cell.strip().lower() for cell in cells]
        if all(cell in WORDS for cell in plain):
            return np.array([WORDS[cell] for cell in plain])
        try:
            found = [math.nan if cell in MISSING else float(cell) for cell in plain]
        except ValueError:
            return None
    return None if all(math.isnan(number) for number in found) else np.array(found)


def column_of_cells(cells: Sequence[str]) -> Float | None:
    """The numbers of a column (T,), or its vectors (T, k); None for text. What is missing is NaN."""
    plain = numbers(cells)
    if plain is not None:
        return plain
    first = next((cell for cell in cells if not is_missing(cell)), "")
    length = len(_vector(first))
    if not length:
        return None
    missing = [math.nan] * length
    vectors = [missing if is_missing(cell) else _vector(cell) for cell in cells]
    return np.array(vectors) if all(len(vector) == length for vector in vectors) else None


def _vector(cell: str) -> list[float]:
    """The numbers of a list in a cell, as [1, 2], [1 2], (1, 2), 1;2 or array([1, 2]); none where it is text."""
    try:
        found: object = json.loads(cell)
    except (ValueError, RecursionError):
        return _loose_vector(cell)
    if not isinstance(found, list):
        return []
    return _floats(["" if one is None else str(one) for one in found])  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _loose_vector(cell: str) -> list[float]:
    plain = cell.strip()
    if array := ARRAY.fullmatch(plain):
        plain = array[1].strip()
    bare = BRACKETS.get(plain[:1]) != plain[-1:]
    plain = plain if bare else plain[1:-1]
    separator = next((one for one in ";," if one in plain), None)  # None: any white space
    parts = plain.split(separator)
    if separator == ";":
        parts = [with_point(part) for part in parts]
    if separator == "," and not bare and not parts[-1].strip():  # (1,)
        parts.pop()
    return _floats(parts) if len(parts) > bare else []


def _floats(parts: Sequence[str]) -> list[float]:
    try:
        return [math.nan if is_missing(part) else float(part) for part in parts]
    except ValueError:
        return []
