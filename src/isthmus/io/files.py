"""Files are written whole or not at all, and never execute code when they are read."""

import io
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from isthmus.core import Problem
from isthmus.io.bounded import Unreadable, brief, parse_npy, unpack
from isthmus.io.regular import open_regular, read_regular

META = "meta"
PARTIAL = ".partial"
LARGEST_JSON = 8 << 20
"""Bytes of a JSON file: small tables take 30 times as much in memory."""
DEEPEST = 100
"""Lists and tables in each other: what walks along them must not run out of stack."""
LARGEST_INTEGER = 2**63
"""Whole numbers of a JSON file are smaller than this, either way."""
LARGEST_DIGITS = len(str(LARGEST_INTEGER))
LONGEST_META = 16 << 20
"""Bytes of an npz file's description, at four a character."""


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one move, so that a reader or a crash never sees half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}; what was there before is unchanged") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def make_folder(path: Path) -> Path:
    """The folder, made if it is not there; one that nothing can be written to is a Problem before any work is done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise Problem(f"cannot write to the folder {path}: {error.strerror}") from error


def remove_partial(folder: Path) -> None:
    """Remove what a killed process was about to write anywhere below `folder`."""
    for leftover in [*folder.rglob(f".*{PARTIAL}")]:
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Write `value` as readable JSON."""
    write_whole(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`, which is a regular file.

    Numbers are finite and of a size that can be computed with, names in an object differ, and text can be written
    again as UTF-8: whatever else a JSON file may hold is a Problem.
    """
    try:
        text = read_regular(path, limit=LARGEST_JSON).decode("utf-8")
        value: object = json.loads(
            text, parse_int=_integer, parse_float=_float, parse_constant=_float, object_pairs_hook=_object
        )
        _check_depth(value)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # fails on half of a surrogate pair
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not valid JSON ({brief(error)}); restore it or remove it") from error
    if not isinstance(value, dict):
        raise Problem(f"{path} holds a JSON {type(value).__name__}, expected an object")
    return value  # pyright: ignore[reportUnknownVariableType]


def _check_depth(value: object) -> None:
    level: list[Any] = [value] if isinstance(value, list | dict) else []
    for _ in range(DEEPEST):
        within: Iterator[Iterable[Any]] = (
            cast("dict[str, Any]", one).values() if isinstance(one, dict) else one for one in level
        )
        level = [inner for values in within for inner in values if isinstance(inner, list | dict)]
        if not level:
            return
    raise ValueError(f"it is nested more than {DEEPEST} deep")


def _integer(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > LARGEST_DIGITS or abs(int(text)) >= LARGEST_INTEGER:
        raise ValueError(f"a whole number of {digits} digits is too large")
    return int(text)


def _float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:20]} is not a finite number")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in pairs:
        if name in named:
            raise ValueError(f"{name[:40]!r} is there twice")
        named[name] = value
    return named


def pack_arrays(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bytes:
    """Named arrays and a JSON description as the content of an npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{META: np.array(json.dumps(dict(meta)))}, **arrays)
    return buffer.getvalue()


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write named arrays and a JSON description as one npz file."""
    write_whole(path, pack_arrays(arrays, meta))


def load_arrays(path: Path, kind: str, *, follow: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and description that `save_arrays` wrote; `kind` says in the error what was expected.

    Only arrays of numbers and text are read, so no code of the file is ever run, and what they unpack to is bounded.
    A path that the user named may be a symbolic link to `follow`.
    """
    try:
        with open_regular(path, follow=follow) as file:
            return unpack_arrays(file, kind, path)
    except FileNotFoundError as error:
        raise Problem(f"there is no {kind} at {path}") from error
    except OSError as error:
        raise Problem(f"{path} is not a {kind} file: it cannot be read ({error.strerror})") from error


def unpack_arrays(file: IO[bytes], kind: str, path: Path | str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and description in the content of an npz file; `path` is what messages call it."""
    try:
        entries = unpack(file)
        arrays = {name.removesuffix(".npy"): parse_npy(content) for name, content in entries.items()}
        meta: object = json.loads(_description(arrays))
        _check_depth(meta)
    except OSError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:
        raise Problem(f"{path} is not a {kind} file, or it is damaged ({brief(error)})") from error
    if not isinstance(meta, dict):
        raise Problem(f"{path} is not a {kind} file: its description is not a JSON object")
    if meta.get("kind") != kind:  # pyright: ignore[reportUnknownMemberType]
        named = str(meta.get("kind"))[:40]  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        raise Problem(f"{path} is not a {kind} file: it is one of kind {named!r}")
    return arrays, meta  # pyright: ignore[reportUnknownVariableType]


def _description(arrays: dict[str, np.ndarray]) -> str:
    """The text beside the arrays, which is taken from among them."""
    if META not in arrays:
        raise Unreadable("it has no description")
    text = arrays.pop(META)
    if text.ndim or text.dtype.kind != "U" or text.nbytes > LONGEST_META:
        raise Unreadable("its description is not a text of some length")
    return str(text)
