"""Tensors in a file that `torch.save` wrote, read without torch: dense ones, whose numbers are all in the file."""

import io
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus.io.bounded import Unreadable, unpack
from isthmus.policies.pickles import MAKERS, Makers, read_plain

STORAGES = {
    "FloatStorage": "f4",
    "DoubleStorage": "f8",
    "HalfStorage": "f2",
    "LongStorage": "i8",
    "IntStorage": "i4",
    "ShortStorage": "i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "b1",
}
"""NumPy's name of what each of torch's storages holds."""
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How files begin that torch wrote before 1.6: a pickled number."""


@dataclass
class Storage:
    """A row of numbers that tensors are views of."""

    kind: np.dtype[Any]
    content: bytes | bytearray | None = None


@dataclass(frozen=True)
class Tensor:
    """A view of a storage."""

    storage: Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]

    def array(self) -> np.ndarray:
        """Its numbers; Unreadable where they are not in the file, each at a place of its own."""
        if self.storage.content is None or len(self.storage.content) % self.storage.kind.itemsize:
            raise Unreadable("it has a tensor without its numbers")
        numbers = np.frombuffer(self.storage.content, self.storage.kind)
        steps = [(size - 1) * stride for size, stride in zip(self.size, self.stride, strict=True)]
        if math.prod(self.size) == 0:
            return np.zeros(self.size, self.storage.kind)
        overlaps = any(size > 1 and stride < 1 for size, stride in zip(self.size, self.stride, strict=True))
        if overlaps or self.offset + sum(steps) >= len(numbers) or math.prod(self.size) > len(numbers):
            raise Unreadable(f"it has a tensor of shape {self.size} and strides {self.stride}")
        strides = [stride * numbers.itemsize for stride in self.stride]
        return np.lib.stride_tricks.as_strided(numbers[self.offset :], self.size, strides).copy()


def _tensor(storage: object, offset: object, size: object, stride: object, *_options: object) -> Tensor:
    whole = all(isinstance(part, tuple) and len(part) <= 8 for part in (size, stride))  # pyright: ignore
    numbers: tuple[Any, ...] = (offset, *size, *stride) if whole else (None,)  # pyright: ignore
    if not isinstance(storage, Storage) or not all(type(one) is int and 0 <= one < 1 << 40 for one in numbers):
        raise Unreadable("it has a damaged tensor")
    if len(size) != len(stride) or (math.prod(size) == 0 and max(size) > 1 << 20):  # pyright: ignore
        raise Unreadable("it has a damaged tensor")
    return Tensor(storage, offset, size, stride)  # pyright: ignore


def _parameter(tensor: object, *_options: object) -> object:
    return tensor


def _nothing(*_arguments: object) -> None:
    """A storage's class is only named."""


TENSOR_MAKERS: Makers = (
    MAKERS
    | {("torch", name): _nothing for name in STORAGES}
    | {("torch._utils", "_rebuild_tensor_v2"): _tensor, ("torch._utils", "_rebuild_parameter"): _parameter}
)


@dataclass
class _Storages:
    """The storages that a pickle refers to."""

    order: str
    by_key: dict[str, Storage] = field(default_factory=dict[str, Storage])

    def __call__(self, reference: object) -> Storage:
        """The storage of a reference: ("storage", class, key, device, size, ...)."""
        if not isinstance(reference, tuple) or len(reference) < 5 or reference[0] != "storage":  # pyright: ignore
            raise Unreadable("it refers to other files")
        kind = getattr(reference[1], "name", "").removeprefix("torch.")  # pyright: ignore
        key: object = reference[2]  # pyright: ignore[reportUnknownVariableType]
        if kind not in STORAGES or not isinstance(key, str) or any(part for part in reference[5:]):  # pyright: ignore
            raise Unreadable(f"it has tensors of {str(kind)[:60] or 'another kind'}")
        return self.by_key.setdefault(key, Storage(np.dtype(STORAGES[kind]).newbyteorder(self.order)))  # pyright: ignore


def read_weights(content: bytes | bytearray, *, largest: int) -> dict[str, np.ndarray]:
    """The tensors in a state dictionary by name, as they were saved; Unreadable if it holds anything else."""
    table = _legacy(bytes(content)) if content.startswith(LEGACY) else _zipped(bytes(content), largest)
    if not isinstance(table, Mapping):
        raise Unreadable("it is something else than a table of weights")
    tensors: dict[str, Tensor] = {
        name: value
        for name, value in table.items()  # pyright: ignore[reportUnknownVariableType]
        if isinstance(name, str) and isinstance(value, Tensor)
    }
    if sum(math.prod(one.size) * one.storage.kind.itemsize for one in tensors.values()) > largest:
        raise Unreadable(f"it has more than {largest >> 20} MB of numbers")
    return {name: tensor.array() for name, tensor in tensors.items()}


def _zipped(content: bytes, largest: int) -> object:
    entries = unpack(io.BytesIO(content), largest=largest)
    pickled = next((name for name in entries if name.endswith("/data.pkl")), None)
    if pickled is None:
        raise Unreadable("it has no data.pkl")
    root = pickled.removesuffix("data.pkl")
    storages = _Storages(">" if bytes(entries.get(f"{root}byteorder", b"")) == b"big" else "<")
    table = read_plain(bytes(entries[pickled]), TENSOR_MAKERS, storages)
    for key, storage in storages.by_key.items():
        storage.content = entries.get(f"{root}data/{key}")
    return table


def _legacy(content: bytes) -> object:
    """Three pickles about the file, one of the tensors, one of the storages' keys, and then the numbers of each."""
    file, storages = io.BytesIO(content), _Storages("<")
    for _ in range(3):
        read_plain(file)
    table = read_plain(file, TENSOR_MAKERS, storages)
    keys: object = read_plain(file)
    for key in keys if isinstance(keys, list) else ():  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(key, str) or key not in storages.by_key or len(head := file.read(8)) < 8:
            raise Unreadable("it is damaged (a storage that is not there)")
        (numbers,) = struct.unpack("<q", head)
        storage = storages.by_key[key]
        if not 0 <= numbers <= len(content):
            raise Unreadable("it is damaged (a storage that is not there)")
        storage.content = file.read(numbers * storage.kind.itemsize)
    return table
