"""Load and run an ONNX model in a process of its own, with little memory and time, before anybody else does.

The process reads the model from its standard input, and writes one line of JSON: the sizes of its input and outputs,
its memory, and whether it takes several observations at once, or what is wrong with it.
"""

import json
import math
import os
import resource
import subprocess
from dataclasses import asdict, dataclass
from functools import lru_cache
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.io.bounded import Unreadable, brief
from isthmus.policies.onnx_memory import Memory, Tensor, find_memory, memory_of
from isthmus.policies.onnx_runtime import NO_TELEMETRY, import_onnxruntime, open_session

MEMORY = 384 << 20
"""Bytes beyond what the libraries take."""
SECONDS = 3
"""Of computing; by the clock, a machine that is busy gets more."""
CLOCK_SECONDS = 300
TYPES: dict[str, type[np.floating[Any]]] = {"tensor(float)": np.float32, "tensor(double)": np.float64}
BATCH = 5


@lru_cache(maxsize=8)
def try_model(content: bytes) -> dict[str, Any]:
    """What the model takes and gives; Unreadable if it takes too much or does not act on ordinary observations."""
    import_onnxruntime()  # it is not the model's fault if it is not installed
    command = [get_executable(), "-P", "-m", "isthmus.policies.onnx_trial"]
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command,
            input=content,
            capture_output=True,
            check=False,
            timeout=CLOCK_SECONDS,
            env={**os.environ, **NO_TELEMETRY, **single},
        )
    except subprocess.TimeoutExpired as error:
        raise Unreadable(f"it took more than {CLOCK_SECONDS} s to load and try") from error
    except OSError as error:
        raise Problem(f"cannot start a process to try an ONNX file in: {error.strerror}") from error
    return accepted(done.stdout)


def accepted(answer: bytes) -> dict[str, Any]:
    """What the process has found; Unreadable if that is a fault, or the process did not live to tell."""
    try:
        found: object = json.loads(answer)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unreadable(
            f"to load it takes more than {SECONDS} s of computing or {MEMORY >> 20} MB, or makes ONNX Runtime crash"
        )
    if "wrong" in found:
        raise Unreadable(str(found["wrong"]))  # pyright: ignore[reportUnknownArgumentType]
    return found  # pyright: ignore[reportUnknownVariableType]


def main() -> None:
    """Try the model on standard input."""
    with open(0, "rb", closefd=False) as model, open(1, "w", encoding="utf-8", closefd=False) as answer:
        answer.write(json.dumps(trial(model.read())))
    os._exit(0)  # whatever the model has left behind


def trial(content: bytes) -> dict[str, Any]:
    """What the model takes and gives, or what is wrong with it. Limits this process for good."""
    import_onnxruntime()
    _limit()
    try:
        with np.errstate(all="ignore"):
            return _tried(open_session(content))
    except Unreadable as error:
        return {"wrong": str(error)}
    except Exception as error:  # ONNX Runtime has many of its own
        if isinstance(error, MemoryError) or "alloc" in str(error).lower():
            return {"wrong": f"to load and try it takes more than {MEMORY >> 20} MB"}
        return {"wrong": brief(error).removeprefix("[ONNXRuntimeError] : ")}


def _limit() -> None:
    statm = Path("/proc/self/statm")
    if statm.exists():  # elsewhere nobody holds on to a limit of this kind
        taken = int(statm.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    used = math.ceil(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, used + SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _tried(session: Any) -> dict[str, Any]:  # noqa: ANN401
    taken, given = (
        [Tensor(one.name, tuple(one.shape), one.type) for one in some]
        for some in (session.get_inputs(), session.get_outputs())
    )
    if not taken or (len(taken) == 1 and not _is_observation(taken[0])):
        raise _no_observation(taken)
    seen, pairs = find_memory(taken, given)
    if not _is_observation(seen):
        raise _no_observation([seen])
    batch, size = seen.shape
    memory = [memory_of(*pair, batch) for pair in pairs]
    for name, kind in ((one.name, one.type) for one in (seen, *(pair[0] for pair in pairs))):
        if kind not in TYPES:
            which = "" if name == seen.name else f" as {name!r}"
            raise Unreadable(f"it takes {kind}{which}: a policy takes numbers of type float or double")
    if isinstance(batch, int) and batch != 1:
        raise Unreadable(
            f"it takes {batch} observations at a time: a policy takes one, or any number (a dynamic batch)"
        )
    if not isinstance(size, int) or not 0 < size <= 100_000:
        raise Unreadable(f"it takes {size} numbers, which is no observation")
    trial = _Trial(session, seen.name, memory)
    tried = np.random.default_rng(0).normal(size=(BATCH, size)).astype(TYPES[seen.type])
    tried[0] = 0
    alone = [trial.alone(row[None]) for row in tried]
    outputs = _sizes([one.name for one in given], alone, {one.output for one in memory})
    together = batch != 1 and trial.same_together(tried, alone)
    return {
        "input": seen.name,
        "inputs": size,
        "type": seen.type,
        "outputs": outputs,
        "one_by_one": not together,
        "memory": [asdict(one) for one in memory],
    }


def _is_observation(one: Tensor) -> bool:
    return len(one.shape) == 2 and isinstance(one.shape[1], int)


def _no_observation(taken: list[Tensor]) -> Unreadable:
    shapes = [list(one.shape) for one in taken]
    return Unreadable(f"it has inputs of shape {str(shapes)[:200]}: a policy takes one, of shape (batch, observations)")


@dataclass(frozen=True)
class _Trial:
    """A model that is run for two steps, so that it is seen what it makes of its memory."""

    session: Any
    input: str
    memory: list[Memory]

    def alone(self, row: np.ndarray) -> list[Any]:
        """The outputs of the second step for an observation (1, size)."""
        state = {one.input: np.zeros(one.shape, TYPES[one.type]) for one in self.memory}
        return self._second(row, state)

    def same_together(self, seen: np.ndarray, alone: list[list[Any]]) -> bool:
        """Whether several observations (n, size) at once give what they give one by one."""
        if any(one.axis is None for one in self.memory):
            return False
        state = {
            one.input: np.zeros([len(seen) if i == one.axis else size for i, size in enumerate(one.shape)], kind)
            for one in self.memory
            for kind in [TYPES[one.type]]
        }
        axes = {one.output: one.axis or 0 for one in self.memory}
        try:
            together = self._second(seen, state)
            names = [one.name for one in self.session.get_outputs()]
            pairs = [
                (np.asarray(all_), np.concatenate(ones, axis=axes.get(name, 0)))
                for name, all_, ones in zip(names, together, zip(*alone, strict=True), strict=True)
            ]
            return all(left.shape == right.shape and np.allclose(left, right, 1e-3, 1e-4) for left, right in pairs)
        except Exception:
            return False

    def _second(self, seen: np.ndarray, state: dict[str, np.ndarray]) -> list[Any]:
        first: list[Any] = self.session.run(None, {self.input: seen, **state})
        if not self.memory:
            return first
        by_name = dict(zip((one.name for one in self.session.get_outputs()), first, strict=True))
        for one in self.memory:
            after = by_name[one.output]
            if after.shape != state[one.input].shape or not np.isfinite(after).all():
                raise Unreadable(
                    f"its output {one.output!r} has shape {after.shape}, or is not finite: as the next value of "
                    f"{one.input!r} it would have shape {state[one.input].shape}"
                )
        return self.session.run(None, {self.input: seen, **{one.input: by_name[one.output] for one in self.memory}})


def _sizes(names: list[str], alone: list[list[Any]], memory: set[str]) -> dict[str, int]:
    """Sizes of the outputs that may be actions: a row of finite numbers for each observation, and no `memory`."""
    sizes: dict[str, int] = {}
    reason = "it has no outputs"
    for column, name in enumerate(names):
        if name in memory:
            continue
        values: list[Any] = [one[column] for one in alone]
        if not all(isinstance(value, np.ndarray) and value.dtype in TYPES.values() for value in values):
            reason = f"its output {name!r} is not of real numbers"
        elif len({value.shape for value in values}) > 1 or values[0].ndim > 2 or len(np.atleast_2d(values[0])) != 1:
            reason = f"its output {name!r} has shape {values[0].shape} for one observation: expected a row of actions"
        elif not all(np.isfinite(value).all() for value in values):
            reason = f"its output {name!r} is not finite for ordinary observations"
        else:
            sizes[name] = values[0].size
    if not sizes:
        raise Unreadable(reason)
    return sizes


if __name__ == "__main__":
    main()
