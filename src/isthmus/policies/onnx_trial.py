"""Load and run an ONNX model in a process of its own, with little memory and time, before anybody else does.

The process reads the model from its standard input, and writes one line of JSON: the sizes of its input and outputs and
whether it takes several observations at once, or what is wrong with it.
"""

import json
import math
import os
import resource
import subprocess
from functools import lru_cache
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Problem
from isthmus.io.bounded import Unreadable, brief
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
    taken = session.get_inputs()
    if len(taken) != 1 or len(taken[0].shape) != 2 or not isinstance(taken[0].shape[1], int):
        shapes = [list(one.shape) for one in taken]
        raise Unreadable(
            f"it has inputs of shape {str(shapes)[:200]}: a policy takes one, of shape (batch, observations)"
        )
    name, (batch, size), kind = taken[0].name, taken[0].shape, TYPES.get(taken[0].type)
    if kind is None:
        raise Unreadable(f"it takes {taken[0].type}: a policy takes numbers of type float or double")
    if isinstance(batch, int) and batch != 1:
        raise Unreadable(
            f"it takes {batch} observations at a time: a policy takes one, or any number (a dynamic batch)"
        )
    if not 0 < size <= 100_000:
        raise Unreadable(f"it takes {size} numbers, which is no observation")
    seen = np.random.default_rng(0).normal(size=(BATCH, size)).astype(kind)
    seen[0] = 0
    alone = [session.run(None, {name: row[None]}) for row in seen]
    outputs = _sizes([one.name for one in session.get_outputs()], alone)
    together = batch != 1 and _same(session, name, seen, alone)
    return {"input": name, "inputs": size, "type": taken[0].type, "outputs": outputs, "one_by_one": not together}


def _sizes(names: list[str], alone: list[list[Any]]) -> dict[str, int]:
    """Sizes of the outputs that may be actions: a row of finite numbers for each observation."""
    sizes: dict[str, int] = {}
    reason = "it has no outputs"
    for column, name in enumerate(names):
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


def _same(session: Any, name: str, seen: np.ndarray, alone: list[list[Any]]) -> bool:  # noqa: ANN401
    """Whether several observations at once give what they give one by one."""
    try:
        together = session.run(None, {name: seen})
        pairs = [
            (np.asarray(all_), np.concatenate(ones))
            for all_, ones in zip(together, zip(*alone, strict=True), strict=True)
        ]
        return all(left.shape == right.shape and np.allclose(left, right, 1e-3, 1e-4) for left, right in pairs)
    except Exception:
        return False


if __name__ == "__main__":
    main()
