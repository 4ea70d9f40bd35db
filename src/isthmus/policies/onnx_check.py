"""What an ONNX file would take to load, found without loading it, and without the onnx package.

ONNX Runtime computes all that does not depend on the input when a file is loaded, so a few bytes can ask for any amount
of memory and time. What is checked here is what a file says; what it does is tried by `onnx_trial`, under limits.
"""

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from isthmus.io.bounded import Unreadable

Value = int | memoryview


def fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """Each field's number and value: an integer, or the bytes of a text, a message or packed numbers."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == 2:
            size, at = _varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(wire, -1)
        if size < 0 or at + size > len(message) or not number:
            raise Unreadable("it is not a protobuf message")
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise Unreadable("it is not a protobuf message")


def signed(value: int) -> int:
    """An integer as int64 has it."""
    return value - (1 << 64) if value >> 63 else value


def integers(value: Value) -> list[int]:
    """A field of integers: one, or several that are packed."""
    if isinstance(value, int):
        return [signed(value)]
    numbers: list[int] = []
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        numbers.append(signed(number))
    return numbers


def submessage(value: Value) -> memoryview:
    """A field that is a message."""
    if isinstance(value, int):
        raise Unreadable("it is not a protobuf message of that kind")
    return value


def text(value: Value) -> str:
    """A field that is a short text."""
    return bytes(submessage(value)[:200]).decode("utf-8", "replace")


def raw_numbers(content: memoryview, code: str) -> list[float]:
    """Numbers of a struct code, little-endian."""
    count = len(content) // struct.calcsize(code)
    return list(struct.unpack(f"<{count}{code}", content[: count * struct.calcsize(code)]))


LARGEST = 32 << 20
"""Bytes of a file."""
MOST_NODES = 10_000
MOST_ELEMENTS = 16 << 20
"""Numbers of a constant that a file may ask for."""
MOST_READ = 64
"""Numbers of a constant that are looked at: shapes and the like are shorter."""
CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
MAKES_SPACE: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("ConstantOfShape", "BlackmanWindow", "HannWindow", "HammingWindow", "MelWeightMatrix"), (0,)),
    **dict.fromkeys(
        ("Expand", "Tile", "Range", "Pad", "Upsample", "OneHot", "Reshape", "CenterCropPad", "Col2Im"), (1,)
    ),
    "AffineGrid": (1,),
    **dict.fromkeys(("MaxUnpool", "Resize"), (2, 3)),
    **dict.fromkeys(("RandomNormal", "RandomUniform"), ()),
}
"""Operators whose output is as large as their attributes and some of their inputs say in numbers: which inputs."""
INT32, INT64, FLOAT, DOUBLE = 6, 7, 1, 11
EXTERNAL = 1


@dataclass
class _Graph:
    """What is kept of the graphs of a file."""

    trust: bool
    nodes: int = 0
    constants: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """Numbers of short constants by name."""


def check_onnx(content: bytes, *, trust: bool = False) -> None:
    """Refuse a file that would take much to load, with Unreadable; `trust` accepts loops, branches and functions."""
    graph = _Graph(trust)
    has_graph = False
    for number, value in fields(memoryview(content)):
        if number == 7:
            _check_graph(submessage(value), graph, depth=0)
            has_graph = True
        elif number == 8:
            _check_opset(submessage(value))
        elif number == 25 and not trust:
            raise Unreadable("it has functions of its own, which can grow without bound: give --trust to accept that")
        elif number == 20:
            raise Unreadable("it has training information, which a policy has no use for")
    if not has_graph:
        raise Unreadable("it has no graph")


def _check_opset(message: memoryview) -> None:
    for number, value in fields(message):
        if number == 2 and not (isinstance(value, int) and 1 <= value <= 1000):
            raise Unreadable("its opset is not a number from 1 to 1000")


def _check_graph(message: memoryview, graph: _Graph, depth: int) -> None:
    if depth > 8:
        raise Unreadable("its graphs are nested too deep")
    nodes: list[memoryview] = []
    for number, value in fields(message):
        if number == 1:
            nodes.append(submessage(value))
        elif number == 5:
            name, numbers = _tensor(submessage(value))
            graph.constants[name] = numbers
        elif number == 15:
            raise Unreadable("it has sparse weights, which are not read")
    graph.nodes += len(nodes)
    if graph.nodes > MOST_NODES:
        raise Unreadable(f"it has more than {MOST_NODES} nodes")
    for node in nodes:
        _check_node(node, graph, depth)


def _check_node(message: memoryview, graph: _Graph, depth: int) -> None:
    parts = list(fields(message))
    operator = next((text(value) for number, value in parts if number == 4), "")
    if operator in CONTROL_FLOW and not graph.trust:
        raise Unreadable(f"it has {operator}, which can take any time: give --trust to accept that")
    inputs = [text(value) for number, value in parts if number == 1]
    outputs = [text(value) for number, value in parts if number == 2]
    sizes = [inputs[index] for index in MAKES_SPACE.get(operator, ()) if index < len(inputs)]
    asked = [graph.constants[name] for name in sizes if name in graph.constants]
    for number, value in parts:
        if number == 5:
            numbers = _attribute(submessage(value), graph, depth)
            asked.append(numbers)
            if operator == "Constant" and outputs:
                graph.constants[outputs[0]] = numbers
    if operator in MAKES_SPACE:
        for numbers in asked:
            _check_size(operator, numbers)


def _check_size(operator: str, numbers: Sequence[float]) -> None:
    """Shapes, repeats, paddings and ends are products at most."""
    if not all(math.isfinite(number) for number in numbers):
        return  # limits of a random number, say; no shape
    size = math.prod(max(1.0, abs(number)) for number in numbers)
    if size > MOST_ELEMENTS:
        raise Unreadable(f"its {operator} asks for {size:.3g} numbers, more than {MOST_ELEMENTS}")


def _attribute(message: memoryview, graph: _Graph, depth: int) -> list[float]:
    numbers: list[float] = []
    for number, value in fields(message):
        if number in {3, 8}:  # integers
            numbers += integers(value)[:MOST_READ]
        elif number in {5, 10}:  # tensors
            numbers += _tensor(submessage(value))[1]
        elif number in {6, 11}:  # graphs
            if not graph.trust:
                raise Unreadable(
                    "it has a graph within the graph, which can take any time: give --trust to accept that"
                )
            _check_graph(submessage(value), graph, depth + 1)
        elif number in {22, 23}:
            raise Unreadable("it has sparse weights, which are not read")
    return numbers


def _tensor(message: memoryview) -> tuple[str, list[float]]:
    """The name of a tensor and its numbers, if they are few; Unreadable if they are not all in the file."""
    name, kind, dims = "", 0, list[int]()
    data: list[tuple[int, Value]] = []
    for number, value in fields(message):
        if number == 1:
            dims += integers(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8:
            name = text(value)
        elif number == 13 or (number == 14 and value == EXTERNAL):
            raise Unreadable("its weights are in another file, which is not read: save it with all data inside")
        elif number in {4, 5, 7, 9, 10}:
            data.append((number, value))
    size = math.prod(dims)
    if min(dims, default=0) < 0 or len(dims) > 16 or size > 2 * len(message):  # two to a byte at most
        raise Unreadable(f"its tensor {name!r} of shape {str(dims)[:80]} is not all there")
    return name, _numbers(kind, data) if size <= MOST_READ else []


def _numbers(kind: int, data: Sequence[tuple[int, Value]]) -> list[float]:
    codes = {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}
    numbers: list[float] = []
    for number, value in data:
        if number in {5, 7}:
            numbers += integers(value)
        elif not isinstance(value, int) and (code := {4: "f", 10: "d", 9: codes.get(kind, "")}[number]):
            numbers += raw_numbers(value, code)
    return numbers
