"""The nodes and constants of an ONNX file, read without the onnx package."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.io.bounded import Unreadable
from isthmus.policies.onnx_check import fields, integers, raw_numbers, submessage, text

NUMBERS = {1: "f", 6: "i", 7: "q", 11: "d"}
"""Struct codes of the types of constants."""
PACKED = {1: 4, 6: 5, 7: 7, 11: 10}
"""The field that holds numbers of a type which are not raw."""


@dataclass(frozen=True)
class Node:
    """An operation."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, float | int | np.ndarray]


def read_graph(content: bytes) -> tuple[list[Node], dict[str, np.ndarray]]:
    """The nodes of the main graph, and its constants by name."""
    graph = next((submessage(value) for number, value in fields(memoryview(content)) if number == 7), None)
    if graph is None:
        raise Unreadable("it has no graph")
    nodes: list[Node] = []
    constants: dict[str, np.ndarray] = {}
    for number, value in fields(graph):
        if number == 5:
            name, array = _tensor(submessage(value))
            constants[name] = array
        elif number == 1:
            node = _node(submessage(value))
            if node.operator == "Constant":
                constants[node.outputs[0]] = np.asarray(next(iter(node.attributes.values())))
            else:
                nodes.append(node)
    return nodes, constants


def _node(message: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    operator, attributes = "", dict[str, float | int | np.ndarray]()
    for number, value in fields(message):
        if number in (1, 2):
            (inputs if number == 1 else outputs).append(text(value))
        elif number == 4:
            operator = text(value)
        elif number == 5:
            name, found = _attribute(submessage(value))
            attributes[name] = found
    return Node(operator, tuple(inputs), tuple(outputs), attributes)


def _attribute(message: memoryview) -> tuple[str, float | int | np.ndarray]:
    name, found = "", float("nan")
    for number, value in fields(message):
        if number == 1:
            name = text(value)
        elif number == 2:
            found = raw_numbers(submessage(value), "f")[0]
        elif number == 3:
            found = integers(value)[0]
        elif number == 5:
            found = _tensor(submessage(value))[1]
    return name, found


def _tensor(message: memoryview) -> tuple[str, np.ndarray]:
    every = list(fields(message))
    shape = [size for number, value in every if number == 1 for size in integers(value)]
    kind = next(integers(value)[0] for number, value in every if number == 2)
    name = next((text(value) for number, value in every if number == 8), "")
    if kind not in NUMBERS:
        raise Unreadable(f"it has a constant of type {kind}")
    raw = next((submessage(value) for number, value in every if number == 9), None)
    numbers: Sequence[float] = (
        raw_numbers(raw, NUMBERS[kind]) if raw is not None else _unpacked(every, PACKED[kind], NUMBERS[kind])
    )
    return name, np.asarray(numbers).reshape(shape)


def _unpacked(every: Sequence[tuple[int, int | memoryview]], place: int, code: str) -> list[float]:
    """Numbers that are not raw."""
    found: list[float] = []
    for number, value in every:
        if number == place:
            found += integers(value) if code in "iq" else raw_numbers(submessage(value), code)
    return found
