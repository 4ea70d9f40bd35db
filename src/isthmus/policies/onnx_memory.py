"""Which inputs of an ONNX model are its memory, and which of its outputs is the next value of each.

A recurrent policy takes an observation and its hidden state, and gives actions and the next hidden state. Names tell
which belong together (`h_in` and `h_out`, `state_in` and `state_out`, `h0` and `hn`), and shapes where names do not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from isthmus.io.bounded import Unreadable

Shape = tuple[int | str | None, ...]
"""As a file says it: a name, or nothing, is a dimension of any size."""
ROLES = frozenset({"in", "out", "input", "output", "prev", "previous", "next", "new", "old", "last", "n", "0"})
"""Words in a name that tell an input from an output, and not which of several it is."""
LISTED = 6


@dataclass(frozen=True)
class Tensor:
    """An input or an output of a model, as the file declares it."""

    name: str
    shape: Shape
    type: str

    @property
    def stem(self) -> str:
        """The name without the words that tell an input from an output: `h_in`, `h_out`, `h0` and `hn` are all `h`."""
        parts = [part for part in re.split(r"[_./:\-\s]+", self.name.lower()) if part not in ROLES]
        return "_".join(re.sub(r"(?<=^[hc])(0|n|_?t)$", "", part) for part in parts)

    def fits(self, other: "Tensor") -> bool:
        """Whether both have the same type and sizes; a dimension of any size fits every one."""
        same = zip(self.shape, other.shape, strict=False)
        return (
            self.type == other.type
            and len(self.shape) == len(other.shape)
            and all(a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in same)
        )


@dataclass(frozen=True)
class Memory:
    """An input that is fed from an output of the step before."""

    input: str
    output: str
    shape: tuple[int, ...]
    """For one robot."""
    axis: int | None
    """Which dimension counts robots; None for a model that takes one at a time."""
    type: str


def find_memory(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """The input that is the observation, and the pairs of inputs and outputs that are memory."""
    if len(inputs) == 1:
        return inputs[0], []
    pairs = _by_name(inputs, outputs)
    left = [one for one in inputs if one not in {pair[0] for pair in pairs}]
    free = [one for one in outputs if one not in {pair[1] for pair in pairs}]
    found = [
        (one, [*pairs, *more])
        for one in left
        if len(one.shape) == 2 and (more := _by_shape([other for other in left if other is not one], free)) is not None
    ]
    if len(found) == 1 and len(found[0][1]) < len(outputs):
        return found[0]
    if not left:
        raise Unreadable(f"all its inputs ({_named(inputs)}) are memory, and none is the observation")
    raise Unreadable(
        f"it is not clear which of its inputs ({_named(left)}) is the observation and which memory, fed from which of "
        f"its outputs ({_named(free)}): a recurrent policy names them alike, as h_in and h_out"
    )


def memory_of(taken: Tensor, given: Tensor, batch: int | str | None) -> Memory:
    """The pair as it is run, beside an observation whose first dimension is `batch`."""
    open_ends = [i for i, size in enumerate(taken.shape) if not isinstance(size, int)]
    if len(open_ends) > 1:
        raise Unreadable(f"its input {taken.name!r} has the shape {_shape(taken.shape)}: only the batch may be open")
    axis = open_ends[0] if open_ends and not isinstance(batch, int) else None
    shape = tuple(size if isinstance(size, int) else 1 for size in taken.shape)
    if any(size < 1 or size > 100_000 for size in shape):
        raise Unreadable(f"its input {taken.name!r} has the shape {_shape(taken.shape)}, which is no memory")
    return Memory(taken.name, given.name, shape, axis, taken.type)


def _by_name(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    pairs: list[tuple[Tensor, Tensor]] = []
    for one in inputs:
        alike = [other for other in outputs if one.stem and other.stem == one.stem and one.fits(other)]
        twins = [other for other in inputs if other.stem == one.stem and other.fits(one)]
        if len(alike) == 1 and len(twins) == 1:
            pairs.append((one, alike[0]))
    return pairs


def _by_shape(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]] | None:
    """Each input with the one output that has its shape; None unless every pair is the only possible one."""
    pairs: list[tuple[Tensor, Tensor]] = []
    for one in inputs:
        fitting = [other for other in outputs if one.fits(other)]
        if len(fitting) != 1:
            return None
        pairs.append((one, fitting[0]))
    names = sorted(given.name for _, given in pairs)
    return None if any(a == b for a, b in pairwise(names)) else pairs


def _named(tensors: Sequence[Tensor]) -> str:
    shown = ", ".join(f"{one.name[:40]} {_shape(one.shape)}" for one in tensors[:LISTED])
    return shown + (", ..." if len(tensors) > LISTED else "") or "none"


def _shape(shape: Shape) -> str:
    return "x".join("?" if size is None else str(size)[:20] for size in shape)
