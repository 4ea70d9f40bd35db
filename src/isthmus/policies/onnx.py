"""Policies in ONNX files, run by ONNX Runtime."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isthmus.core import Float, History, Problem
from isthmus.io import read_regular
from isthmus.io.bounded import Unreadable
from isthmus.policies.finite import finite
from isthmus.policies.normaliser import Normaliser
from isthmus.policies.onnx_check import LARGEST, check_onnx
from isthmus.policies.onnx_runtime import open_session
from isthmus.policies.onnx_trial import TYPES, try_model


class Session(Protocol):
    """What is used of ONNX Runtime's session, which has no types of its own."""

    def run(self, outputs: list[str], inputs: dict[str, np.ndarray]) -> list[Any]:
        """The named outputs for the named inputs."""
        ...


@dataclass(frozen=True)
class OnnxFile:
    """A loaded ONNX file and its sizes."""

    session: Session
    input: str
    inputs: int
    type: str
    """ONNX's name of the type of its input."""
    outputs: dict[str, int]
    """Size of each output by name."""
    one_by_one: bool
    """Whether the file takes a single observation at a time."""
    content: bytes = field(default=b"", repr=False)
    """Of the file."""


@dataclass(frozen=True)
class OnnxPolicy:
    """Acts on the latest observation."""

    file: OnnxFile
    output: str
    see: Callable[[Float], Float]
    """What the network is shown of an observation (n, obs)."""
    normaliser: Normaliser | None = None
    """What is made of that first."""

    def __call__(self, history: History) -> Float:
        """Actions (n, act)."""
        file = self.file
        shown = self.see(history.current)
        inputs = (shown if self.normaliser is None else self.normaliser(shown)).astype(TYPES[file.type])
        rows = np.split(inputs, len(inputs)) if file.one_by_one else [inputs]
        try:
            parts: list[Any] = [file.session.run([self.output], {file.input: row})[0] for row in rows]
        except Exception as error:
            raise Problem(f"ONNX Runtime could not run the policy ({str(error)[:120]})") from error
        actions = np.concatenate([np.asarray(part, dtype=np.float64).reshape(len(rows[0]), -1) for part in parts])
        return finite(actions, history.current)


def read_onnx(path: Path, *, trust: bool = False) -> OnnxFile:
    """Load an ONNX file with one input of shape (batch, size), after it was checked and tried in another process."""
    try:
        content = read_regular(path, limit=LARGEST, follow=True)
    except FileNotFoundError as error:
        raise Problem(f"there is no policy at {path}") from error
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from error
    return open_onnx(content, path, trust=trust)


def open_onnx(content: bytes, path: Path, *, trust: bool = False) -> OnnxFile:
    """The same for the content of a file; `path` is what messages call it."""
    try:
        check_onnx(content, trust=trust)
        found = try_model(content)
    except (Unreadable, MemoryError) as error:
        raise Problem(f"{path} is not an ONNX file, or it is refused: {error}") from error
    return OnnxFile(open_session(content), **found, content=content)
