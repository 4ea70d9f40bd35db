"""Policies in ONNX files, run by ONNX Runtime."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isthmus.core import Float, History, Problem


class Session(Protocol):
    """What is used of ONNX Runtime's session, which has no types of its own."""

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[Any]:
        """The named outputs for the named inputs."""
        ...


@dataclass(frozen=True)
class OnnxPolicy:
    """Acts on the latest observation."""

    session: Session
    input: str
    output: str
    one_by_one: bool
    """Whether the file takes a single observation at a time."""
    see: Callable[[Float], Float]
    """What the network is shown of an observation (n, obs), normaliser included."""

    def __call__(self, history: History) -> Float:
        """Actions (n, act)."""
        inputs = self.see(history.current).astype(np.float32)
        rows = np.split(inputs, len(inputs)) if self.one_by_one else [inputs]
        parts: list[Any] = [self.session.run([self.output], {self.input: row})[0] for row in rows]
        return np.concatenate([np.asarray(part, dtype=np.float64).reshape(len(rows[0]), -1) for part in parts])


@dataclass(frozen=True)
class OnnxFile:
    """A loaded ONNX file and its sizes."""

    session: Session
    input: str
    inputs: int
    outputs: dict[str, int]
    """Size of each output by name."""
    one_by_one: bool


def read_onnx(path: Path) -> OnnxFile:
    """Load an ONNX file with one input of shape (batch, size)."""
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise Problem("ONNX policies need ONNX Runtime: pip install 'isthmus[onnx]'") from error
    if not path.is_file():
        raise Problem(f"there is no policy at {path}")
    options: Any = onnxruntime.SessionOptions()  # pyright: ignore[reportUnknownVariableType]
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # a control step is too short for threads
    options.log_severity_level = 4
    try:
        session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        taken: list[tuple[str, list[Any]]] = [(value.name, list(value.shape)) for value in session.get_inputs()]
        given: list[tuple[str, list[Any]]] = [(value.name, list(value.shape)) for value in session.get_outputs()]
    except Exception as error:
        raise Problem(f"{path} is not an ONNX file, or it is damaged ({str(error).splitlines()[0][:120]})") from error
    if len(taken) != 1 or len(taken[0][1]) != 2 or not isinstance(taken[0][1][1], int):
        shapes = [shape for _, shape in taken]
        raise Problem(f"{path} has inputs of shape {shapes}: a policy takes one, of shape (batch, observations)")
    [(name, (batch, size))] = taken
    outputs = {output: shape[-1] for output, shape in given if shape and isinstance(shape[-1], int)}
    return OnnxFile(session, name, int(size), outputs, one_by_one=batch == 1)
