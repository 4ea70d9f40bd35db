"""Read a pickle as plain data. No class or function of the file is ever looked up, let alone run.

NumPy arrays are rebuilt; objects of the few libraries that such files come from become `Plain` stand-ins that hold the
state they were pickled with; anything else is refused.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus.io.bounded import Unreadable
from isthmus.policies.unpickle import Shell, follow, key_of, parts_of

KNOWN_LIBRARIES = ("stable_baselines3.", "sb3_contrib.", "rl_zoo3.", "gymnasium.", "gym.", "numpy.random.")
ARRAY_MODULES = (
    "numpy",
    "numpy.core.multiarray",
    "numpy._core.multiarray",
    "numpy.core.numeric",
    "numpy._core.numeric",
)
NUMBERS = frozenset(f"{kind}{bits}" for kind in ("int", "uint", "float", "complex") for bits in (8, 16, 32, 64, 128))
"""NumPy's types of numbers, which spaces name in old files."""


@dataclass
class Plain(Shell):
    """Stands for an object of another library: its arguments and its state, and no behaviour."""

    arguments: tuple[Any, ...] = ()
    state: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def build(self, state: object) -> None:
        """Keep the state the object had, if it is named: a dictionary, or one and another of slots."""
        parts = parts_of(state)
        if all(part is None or isinstance(part, dict) for part in parts):  # others have a state of their own making
            self.state = {key: value for part in parts if part for key, value in part.items()}


class _ArrayShell(Shell):
    """An array whose numbers come later in the file."""

    content: np.ndarray | None = None

    def made(self) -> np.ndarray | None:
        """The array."""
        return self.content

    def build(self, state: object) -> None:
        """Take the numbers: version, shape, type, order and bytes."""
        if not isinstance(state, tuple) or len(state) != 5:  # pyright: ignore[reportUnknownArgumentType]
            raise Unreadable("it has a damaged array")
        _, shape, kind, fortran, content = state  # pyright: ignore[reportUnknownVariableType]
        if isinstance(kind, _Dtype) and kind.kind is None:
            return  # of Python objects, which nobody needs
        self.content = _array(content, kind, shape, "F" if fortran else "C")  # pyright: ignore[reportUnknownArgumentType]


@dataclass
class _Dtype(Shell):
    kind: np.dtype[Any] | None

    def build(self, state: object) -> None:
        """Take the byte order."""
        order: object = state[1] if isinstance(state, tuple) and len(state) > 1 else None  # pyright: ignore
        if self.kind is not None and isinstance(order, str) and order in "<>":
            self.kind = self.kind.newbyteorder(order)  # pyright: ignore[reportArgumentType]


def _dtype(code: object = "", *_options: object) -> _Dtype:
    if not isinstance(code, str) or len(code) > 4:
        raise Unreadable("it has a type of array that is not plain")
    try:
        kind = np.dtype(code)
    except TypeError as error:
        raise Unreadable(f"it has arrays of {code}") from error
    if kind.kind not in "biufcO":
        raise Unreadable(f"it has arrays of {code}")
    return _Dtype(None if kind.kind == "O" else kind)


def _array(content: object, kind: object, shape: object, order: object = "C") -> np.ndarray:
    whole = isinstance(shape, tuple) and len(shape) <= 32 and all(type(size) is int for size in shape)  # pyright: ignore
    if not whole or not isinstance(kind, _Dtype) or kind.kind is None or not isinstance(content, bytes | bytearray):
        raise Unreadable("it has a damaged array")
    return np.frombuffer(content, kind.kind).reshape(shape, order="F" if order == "F" else "C")  # pyright: ignore


def _array_shell(*_arguments: object) -> _ArrayShell:
    return _ArrayShell()


def _scalar(kind: object, content: object = b"") -> object:
    if not isinstance(kind, _Dtype) or kind.kind is None or not isinstance(content, bytes):
        raise Unreadable("it has a number that is not whole")
    return np.frombuffer(content, kind.kind, count=1)[0]


def _encode(text: object, encoding: object = "utf-8") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "utf-8"):
        raise Unreadable("it has bytes in an unknown encoding")
    return text.encode(str(encoding))


def _plain(*arguments: object) -> Plain:
    return Plain(arguments)


def _dictionary(*pairs: object) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for pair in pairs[0] if pairs and isinstance(pairs[0], list) else ():  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(pair, list | tuple) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise Unreadable("it has a damaged dictionary")
        made[key_of(pair[0])] = pair[1]  # pyright: ignore[reportUnknownArgumentType]
    return made


Makers = dict[tuple[str, str], Callable[..., Any]]
_ARRAY_PARTS: dict[str, Callable[..., Any]] = {
    "_reconstruct": _array_shell,
    "ndarray": _plain,
    "dtype": _dtype,
    "scalar": _scalar,
    "_frombuffer": _array,
} | dict.fromkeys((*NUMBERS, "bool_", "bool"), _plain)
MAKERS: Makers = {
    ("collections", "OrderedDict"): _dictionary,
    ("collections", "deque"): _plain,
    ("_codecs", "encode"): _encode,
    ("copyreg", "_reconstructor"): _plain,
    ("copy_reg", "_reconstructor"): _plain,
    ("builtins", "object"): _plain,
    ("__builtin__", "object"): _plain,
} | {(module, name): make for module in ARRAY_MODULES for name, make in _ARRAY_PARTS.items()}
"""What is made of the arguments of the classes and functions that a pickle may name."""


def read_plain(
    content: bytes | io.BytesIO, makers: Makers = MAKERS, persistent: Callable[[object], object] | None = None
) -> Any:  # noqa: ANN401
    """The object in a pickle as plain data; Unreadable, with what was found, if it is anything else.

    A stream is left after the end of the pickle. `persistent` finds what is kept outside of it.
    """

    def find(module: str, name: str) -> Callable[..., Any] | None:
        known = makers.get((module, name))
        return _plain if known is None and f"{module}.".startswith(KNOWN_LIBRARIES) else known

    return follow(content, find, persistent)
