"""Read a pickle as plain data. No class or function of the file is ever looked up, let alone run.

NumPy arrays are rebuilt; objects of the few libraries that such files come from become `Plain` stand-ins that hold the
state they were pickled with; anything else is refused.
"""

import codecs
import io
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem

LARGEST = 64 << 20
"""Bytes of a file that are read at most."""
KNOWN_LIBRARIES = ("stable_baselines3.", "sb3_contrib.", "gymnasium.", "gym.", "numpy.random")
ARRAY_MODULES = (
    "numpy",
    "numpy.core.multiarray",
    "numpy._core.multiarray",
    "numpy.core.numeric",
    "numpy._core.numeric",
)


class Plain:
    """Stands for an object of another library: its arguments and its state, and no behaviour."""

    def __init__(self, *arguments: object, **named: object) -> None:
        """Keep what the object was made with."""
        self.arguments, self.named = arguments, named
        self.state: dict[str, Any] = {}

    def __new__(cls, *_arguments: object, **_named: object) -> "Plain":
        """Make one even where a pickle skips `__init__`."""
        made = super().__new__(cls)
        made.arguments, made.named, made.state = (), {}, {}
        return made

    def __setstate__(self, state: Any) -> None:  # noqa: ANN401
        """Keep the state the object had: attributes by name, and slots beside them; anything else is left out."""
        parts: list[Any] = [*state] if isinstance(state, tuple) else [state]
        for part in parts:
            if isinstance(part, dict):
                self.state |= part


def _array_shell(_kind: object, shape: object, code: object) -> np.ndarray:
    """An empty array, to be filled from the pickle's own bytes."""
    return np.ndarray((0,), np.dtype("b")) if shape == (0,) and code in (b"b", "b") else _refuse("an odd array")


def _refuse(what: str) -> Any:  # noqa: ANN401
    raise pickle.UnpicklingError(what)


def _safe_dtype(*arguments: object) -> np.dtype[Any]:
    kind = np.dtype(arguments[0])  # pyright: ignore
    return kind if kind.kind in "biufc" else _refuse(f"an array of {kind}")


def _safe_scalar(kind: object, content: object = b"") -> object:
    if not isinstance(kind, np.dtype) or kind.kind not in "biufc" or not isinstance(content, bytes):
        return _refuse("an odd number")
    return np.frombuffer(content, kind, count=1)[0]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _from_buffer(content: object, kind: object, shape: object, order: object = "C") -> np.ndarray:
    if not isinstance(kind, np.dtype) or kind.kind not in "biufc" or not isinstance(content, bytes | bytearray):
        return _refuse("an odd array")
    return np.frombuffer(content, kind).reshape(shape, order=order)  # pyright: ignore


def _encode(text: object, encoding: object = "utf-8") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "utf-8"):
        return _refuse("odd bytes")
    return codecs.encode(text, str(encoding))


def _new_plain(*_arguments: object) -> Plain:
    return Plain()


_ARRAY_PARTS: dict[str, Any] = {
    "_reconstruct": _array_shell,
    "ndarray": Plain,
    "dtype": _safe_dtype,
    "scalar": _safe_scalar,
    "_frombuffer": _from_buffer,
}
SAFE: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("_codecs", "encode"): _encode,
    ("copyreg", "_reconstructor"): _new_plain,
    ("builtins", "object"): Plain,
} | {(module, name): part for module in ARRAY_MODULES for name, part in _ARRAY_PARTS.items()}


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Any:  # noqa: ANN401
        if (module, name) in SAFE:
            return SAFE[module, name]
        if f"{module}.".startswith(KNOWN_LIBRARIES):
            return Plain
        return _refuse(f"{module}.{name}")

    def persistent_load(self, pid: object, /) -> Any:  # noqa: ANN401
        return _refuse(f"a reference to {pid!r}")


def read_plain(path: Path, kind: str) -> Any:  # noqa: ANN401
    """The object in a pickle file, as plain data; `kind` says in the error what was expected."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    if len(content) > LARGEST:
        raise Problem(f"{path} is larger than a {kind} file can be")
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except pickle.UnpicklingError as error:
        raise Problem(f"{path} is refused: a {kind} file has no use for {error}") from error
    except Exception as error:
        raise Problem(f"{path} is not a {kind} file, or it is damaged ({type(error).__name__})") from error
