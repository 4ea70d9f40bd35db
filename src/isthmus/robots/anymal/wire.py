"""Messages between a stand-in ANYmal and whoever commands it: a JSON line, then the numbers of named arrays."""

import json
import math
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from isthmus.core import Float, Problem

LONGEST = 1 << 16
"""Bytes of the JSON line."""
LARGEST = 1 << 30
"""Bytes of the arrays of one message."""


def send(stream: BinaryIO, word: str, arrays: Mapping[str, Float] | None = None, **numbers: float | str) -> None:
    """Send a message: a word, arrays and single numbers."""
    named = {name: np.ascontiguousarray(array, dtype=np.float64) for name, array in (arrays or {}).items()}
    header = {"word": word, "arrays": {name: array.shape for name, array in named.items()}, "numbers": numbers}
    stream.write(json.dumps(header).encode() + b"\n")
    for array in named.values():
        stream.write(array.tobytes())
    stream.flush()


def receive(stream: BinaryIO) -> tuple[str, dict[str, Float], dict[str, Any]] | None:
    """The next message: its word, arrays and numbers; None where there is no more."""
    line = stream.readline(LONGEST)
    if not line:
        return None
    header = json.loads(line)
    arrays: dict[str, Float] = {}
    for name, shape in header["arrays"].items():
        size = 8 * math.prod(shape)
        content = stream.read(size) if 0 <= size <= LARGEST else b""
        if len(content) != size:
            raise Problem("the stand-in robot's message was cut off")
        arrays[name] = np.frombuffer(content, dtype=np.float64).reshape(shape).copy()
    return header["word"], arrays, header["numbers"]
