"""Policies in ONNX files, run by ONNX Runtime."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from isthmus.core import Float, History, PolicyState, Problem
from isthmus.io import read_regular
from isthmus.io.bounded import Unreadable
from isthmus.policies.finite import finite
from isthmus.policies.normaliser import Normaliser
from isthmus.policies.onnx_check import LARGEST, check_onnx
from isthmus.policies.onnx_memory import Memory
from isthmus.policies.onnx_runtime import open_session
from isthmus.policies.onnx_trial import TYPES, try_model

MEMORY = "onnx "
"""Begins the names of the state's arrays."""


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
    memory: tuple[Memory, ...] = ()
    """Inputs that are fed from outputs of the step before: the hidden state of a recurrent network."""
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
        return self._run(history, {})[0]

    def _run(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act), and the memory after the step, from the memory before it (n, ...) by name."""
        file, shown = self.file, self.see(history.current)
        seen = (shown if self.normaliser is None else self.normaliser(shown)).astype(TYPES[file.type])
        names = [self.output, *(one.output for one in file.memory)]
        rows = [slice(i, i + 1) for i in range(len(seen))] if file.one_by_one else [slice(None)]
        parts: list[list[Any]] = []
        for row in rows:
            memory = {one.input: _packed(one, state[MEMORY + one.input][row]) for one in file.memory}
            try:
                parts.append(file.session.run(names, {file.input: seen[row], **memory}))
            except Exception as error:
                raise Problem(f"ONNX Runtime could not run the policy ({str(error)[:120]})") from error
        each = len(seen) // len(rows)
        actions = np.concatenate([np.asarray(part[0], dtype=np.float64).reshape(each, -1) for part in parts])
        after = {
            MEMORY + one.input: np.concatenate([_unpacked(one, part[i]) for part in parts])
            for i, one in enumerate(file.memory, 1)
        }
        return finite(actions, history.current), after


@dataclass(frozen=True)
class RecurrentOnnxPolicy(OnnxPolicy):
    """Acts on the latest observation and on the hidden state of its network, which begins an episode as zeros."""

    def initial_state(self, n: int) -> PolicyState:
        """The hidden state of n robots that begin an episode."""
        return {MEMORY + one.input: np.zeros((n, *one.shape), TYPES[one.type]) for one in self.file.memory}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Actions (n, act) for n histories, and the state for the next step."""
        return self._run(history, state)

    def __call__(self, history: History) -> Float:
        """Actions (n, act) at the start of an episode."""
        return self._run(history, self.initial_state(len(history.observations)))[0]


def onnx_policy(
    file: OnnxFile, output: str, see: Callable[[Float], Float], normaliser: Normaliser | None = None
) -> OnnxPolicy:
    """The policy of a loaded file, with memory if the file has some."""
    return (RecurrentOnnxPolicy if file.memory else OnnxPolicy)(file, output, see, normaliser)


def _packed(one: Memory, rows: np.ndarray) -> np.ndarray:
    """The memory of n robots (n, ...) as the model takes it: one robot's alone, or n along the batch's dimension."""
    if one.axis is None:
        return rows[0]
    return np.moveaxis(rows.squeeze(one.axis + 1), 0, one.axis)


def _unpacked(one: Memory, memory: np.ndarray) -> np.ndarray:
    """The memory of n robots (n, ...) from what the model gives."""
    if one.axis is None:
        return memory[None]
    return np.expand_dims(np.moveaxis(memory, one.axis, 0), one.axis + 1)


def read_onnx(path: Path, *, trust: bool = False) -> OnnxFile:
    """Load an ONNX file whose observation has the shape (batch, size), checked and tried in another process."""
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
    parts: list[dict[str, Any]] = [{**one, "shape": tuple(one["shape"])} for one in found["memory"]]
    whole: dict[str, Any] = {**found, "memory": tuple(Memory(**part) for part in parts)}
    return OnnxFile(open_session(content), **whole, content=content)
