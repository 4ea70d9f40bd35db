"""Files are written whole or not at all, and never execute code when they are read."""

import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.data.bounded import Unreadable, brief, open_regular, parse_npy, unpack

META = "meta"
PARTIAL = ".partial"
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


def remove_partial(folder: Path) -> None:
    """Remove what a killed process was about to write anywhere below `folder`."""
    for leftover in folder.rglob(f".*{PARTIAL}"):
        leftover.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Write `value` as readable JSON."""
    write_whole(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in `path`."""
    try:
        value: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not valid JSON ({error}); restore it or remove it") from error
    if not isinstance(value, dict):
        raise Problem(f"{path} holds a JSON {type(value).__name__}, expected an object")
    return value  # pyright: ignore[reportUnknownVariableType]


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write named arrays and a JSON description as one npz file."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{META: np.array(json.dumps(dict(meta)))}, **arrays)
    write_whole(path, buffer.getvalue())


def load_arrays(path: Path, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and description that `save_arrays` wrote; `kind` says in the error what was expected.

    Only arrays of numbers and text are read, so no code of the file is ever run, and what they unpack to is bounded.
    """
    try:
        with open_regular(path) as file:
            entries = unpack(file)
        arrays = {name.removesuffix(".npy"): parse_npy(content) for name, content in entries.items()}
        meta: object = json.loads(_description(arrays))
    except FileNotFoundError as error:
        raise Problem(f"there is no {kind} at {path}") from error
    except OSError as error:
        raise Problem(f"{path} is not a {kind} file: it cannot be read ({error.strerror})") from error
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
