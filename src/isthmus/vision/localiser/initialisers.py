"""Weights of a network out of its ONNX file, by the names they have in training. Nothing in the file is executed."""

import numpy as np

from isthmus.core import Float
from isthmus.io.bounded import Unreadable
from isthmus.policies.onnx_check import check_onnx, fields, integers, submessage, text

GRAPH, INITIALISER = 7, 5
"""Fields of a model and of a graph."""
DIMS, KIND, NAME, RAW = 1, 2, 8, 9
"""Fields of a tensor."""
FLOAT32 = 1


def read_initialisers(content: bytes) -> dict[str, Float]:
    """Arrays of float32 by name, of a file as PyTorch writes it; Unreadable if it is none."""
    check_onnx(content)
    found: dict[str, Float] = {}
    for number, value in fields(memoryview(content)):
        if number == GRAPH:
            for part, tensor in fields(submessage(value)):
                if part == INITIALISER:
                    found |= _tensor(submessage(tensor))
    return found


def _tensor(message: memoryview) -> dict[str, Float]:
    name, kind, dims, raw = "", 0, list[int](), b""
    for number, value in fields(message):
        if number == DIMS:
            dims += integers(value)
        elif number == KIND and isinstance(value, int):
            kind = value
        elif number == NAME:
            name = text(value)
        elif number == RAW:
            raw = bytes(submessage(value))
    if kind != FLOAT32:
        return {}
    try:
        return {name: np.frombuffer(raw, "<f4").reshape(dims)}
    except ValueError:
        raise Unreadable(f"its tensor {name!r} of shape {str(dims)[:80]} is not all there") from None
