"""Write ONNX files without the onnx package: a graph of nodes and constants, as protobuf.

`onnx.proto` numbers every field; the numbers below are from there. Only what a small network needs is written.
"""

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

OPSET, IR_VERSION = 17, 8
PRODUCER = "isthmus"
TYPES = {"f4": 1, "i8": 7, "b1": 9, "f8": 11}
"""ONNX's numbers of NumPy's types."""
INT, INTS = 2, 7
"""ONNX's numbers of the kinds of attributes."""
BATCH = "batch"


@dataclass
class OnnxGraph:
    """A graph in the making, with one input and one output, each (batch, size)."""

    name: str
    nodes: list[bytes] = field(default_factory=list[bytes])
    constants: list[bytes] = field(default_factory=list[bytes])
    _used: int = 0

    def add(self, operator: str, *inputs: str, **attributes: int | list[int]) -> str:
        """Add a node with one output, whose name is returned."""
        output = self._new(operator.lower())
        self._node(operator, inputs, output, attributes)
        return output

    def constant(self, values: npt.ArrayLike, kind: str = "f8") -> str:
        """Add numbers that do not change; returns their name."""
        name, array = self._new("constant"), np.ascontiguousarray(np.asarray(values, dtype=kind))
        parts = [_field(1, size) for size in np.asarray(values).shape]
        parts += [_field(2, TYPES[kind]), _field(8, name.encode()), _field(9, array.tobytes())]
        self.constants.append(b"".join(parts))
        return name

    def content(
        self, takes: str, size: int, result: str, gives: str, outputs: int, kinds: tuple[str, str] = ("f8", "f8")
    ) -> bytes:
        """The content of a file with an input `takes` and an output `gives`, which is what `result` names."""
        self._node("Identity", (result,), gives, {})
        graph = b"".join(
            [
                *(_field(1, node) for node in self.nodes),
                _field(2, self.name.encode()),
                *(_field(5, tensor) for tensor in self.constants),
                _field(11, _value(takes, TYPES[kinds[0]], size)),
                _field(12, _value(gives, TYPES[kinds[1]], outputs)),
            ]
        )
        opset = _field(1, b"") + _field(2, OPSET)
        return _field(1, IR_VERSION) + _field(2, PRODUCER.encode()) + _field(7, graph) + _field(8, opset)

    def _node(
        self, operator: str, inputs: tuple[str, ...], output: str, attributes: dict[str, int | list[int]]
    ) -> None:
        parts = [_field(1, name.encode()) for name in inputs]
        parts += [_field(2, output.encode()), _field(4, operator.encode())]
        parts += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        self.nodes.append(b"".join(parts))

    def _new(self, word: str) -> str:
        self._used += 1
        return f"{word}_{self._used}"


def _attribute(name: str, value: int | list[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name.encode()) + _field(3, value) + _field(20, INT)
    return _field(1, name.encode()) + b"".join(_field(8, one) for one in value) + _field(20, INTS)


def _value(name: str, kind: int, size: int) -> bytes:
    shape = _field(1, _field(2, BATCH.encode())) + _field(1, _field(1, size))
    tensor = _field(1, kind) + _field(2, shape)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(struct.unpack("<Q", struct.pack("<q", value))[0])


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
