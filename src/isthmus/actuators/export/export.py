"""Write a model for somebody else, check what was written, and put beside it what its user must know."""

import ctypes
import hashlib
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.engine import make_engine
from isthmus.actuators.export.exact import check_stateless, exact
from isthmus.actuators.export.header import write_header
from isthmus.core import Float, Problem, stream
from isthmus.io import write_json
from isthmus.io.files import write_whole
from isthmus.io.native import Library, load

Format = Literal["isaaclab", "mjlab", "onnx", "c"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS = {"isaaclab": ".pt", "mjlab": ".pt", "onnx": ".onnx", "c": ".h"}
TOLERANCE = 1e-6
"""Largest difference from the model, in torque scales."""
SINGLE = 6e-8
"""Rounding of a torque to single precision, as a share of it."""
TRIALS = 256
CHECK = """#include "actuator.h"
#define SHOWN __attribute__((visibility("default")))
static actuator_state s;
SHOWN void reset(void) { actuator_reset(&s); }
SHOWN void torque(const double *t, const double *q, const double *v, double *o) { actuator_torque(&s, t, q, v, o); }
"""
"""What a header is compiled with to be compared."""
UNKNOWN = 1e6
"""Stands for a limit that is not known: nothing reaches it."""


def export(actuator: Actuator, to: Format, path: Path) -> dict[str, Any]:
    """Write the model to `path`, and how to use it to a JSON file beside it; returns what that says.

    What was written is loaded again and compared with the model. If they differ, nothing is left.
    """
    if path.suffix != ENDINGS[to]:
        raise Problem(f"an export to {to} is a {ENDINGS[to]} file, got {path}")
    if to != "c":
        check_stateless(actuator, to)
    try:
        off = _check_header(actuator, path) if to == "c" else _check_rows(actuator, to, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    notes = _notes(actuator, to, off)
    write_json(path.with_suffix(".json"), notes)
    return notes


def _inputs(actuator: Actuator, n: int) -> Float:
    """Errors and velocities (n, J, k) each, within the data and a little beyond, as single precision has them."""
    seen, rng = actuator.contract.seen, stream(0, "actuator", "export")
    low, high = (np.where(np.isfinite(end), end, 1.0 * sign) for end, sign in ((seen[..., 0], -1), (seen[..., 1], 1)))
    drawn = rng.uniform(-0.1, 1.1, (n, *low.shape, len(actuator.contract.lags)))  # (n, J, 2, k)
    return (low[..., None] + drawn * (high - low)[..., None]).astype(np.float32).astype(np.float64)


def _check_rows(actuator: Actuator, to: Format, path: Path) -> float:
    """Write a file that takes rows of inputs, and compare."""
    given = _inputs(actuator, TRIALS)
    n, size, _, k = given.shape
    wanted = exact(actuator, given.reshape(n, size, 2 * k))
    if to == "onnx":
        from isthmus.actuators.export.onnx import run_onnx, write_onnx  # noqa: PLC0415 - extras only where used

        write_onnx(actuator, path)
        found = run_onnx(path, given.reshape(n * size, 2 * k))
    else:
        from isthmus.actuators.export.script import run_script, write_script  # noqa: PLC0415 - torch is heavy

        write_script(actuator, path, contiguous=to == "mjlab")
        rows = given
        if to == "mjlab":
            rows = np.zeros((n, size, 2, actuator.contract.lags[-1] + 1))
            rows[..., list(actuator.contract.lags)] = given
        found = run_script(path, rows.reshape(n * size, -1))
    return _compared(found.reshape(n, size), wanted, actuator, path)


def _check_header(actuator: Actuator, path: Path) -> float:
    """Write a header, compile it, and compare a run with the engine's."""
    write_header(actuator, path)
    digest = hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    with tempfile.TemporaryDirectory(prefix="isthmus-") as folder:
        write_whole(Path(folder) / "actuator.h", path.read_bytes())
        write_whole(Path(folder) / "check.c", CHECK.encode())
        code = load(Library(f"actuator-export-{digest}", (Path(folder) / "check.c",)))
    given = _inputs(actuator, TRIALS)[..., 0]
    engine, worst = make_engine(actuator, 1, native=False), 0.0
    code.reset()
    zero = np.zeros((1, actuator.contract.size))
    for row in given:
        target, velocity = np.ascontiguousarray(row[None, :, 0]), np.ascontiguousarray(row[None, :, 1])
        found = np.empty_like(target)
        code.torque(*(ctypes.c_void_p(one.ctypes.data) for one in (target, zero, velocity, found)))
        wanted = engine.step(target, zero, velocity)
        worst = max(worst, _compared(found, wanted, actuator, path, slack=20 * SINGLE))
    return worst


def _compared(found: Float, wanted: Float, actuator: Actuator, path: Path, slack: float = SINGLE) -> float:
    """The largest difference in torque scales; a Problem where it is more than rounding."""
    scale = actuator.contract.torque_scale
    off = np.maximum(np.abs(found - wanted) - slack * np.abs(wanted).max(), 0.0)
    if not off.max() <= TOLERANCE * scale:
        raise Problem(
            f"{path} differs from the model by {np.abs(found - wanted).max():.2g} N m, which is no rounding: removed"
        )
    return float(np.abs(found - wanted).max() / scale)


def _notes(actuator: Actuator, to: Format, off: float) -> dict[str, Any]:
    contract = actuator.contract
    limits = {
        "effort_limit": _known(contract.effort_limit),
        "saturation_effort": _known(contract.saturation),
        "velocity_limit": _known(contract.speed_limit),
    }
    notes: dict[str, Any] = {
        "format": to,
        "dt": contract.dt,
        "advice": f"evaluate it every {1e3 * contract.dt:g} ms: at another rate its lags mean something else",
        "joints": list(contract.joints),
        "lags": list(contract.lags),
        "torque_scale": contract.torque_scale,
        "seen": contract.seen.tolist(),
        "checked_to": off,
        **limits,
        "provenance": dict(contract.provenance) | {"model": actuator.name},
    }
    if actuator.joint is not None:
        notes["joint"] = {name: values.tolist() for name, values in actuator.joint.arrays().items()}
    scales = {"pos_scale": 1.0, "vel_scale": 1.0, "torque_scale": 1.0, "input_order": "pos_vel"}
    if to == "isaaclab":
        notes["ActuatorNetMLPCfg"] = {**scales, "input_idx": list(contract.lags), **limits}
    if to == "mjlab":
        notes["LearnedMlpActuatorCfg"] = {**scales, "history_length": contract.lags[-1] + 1, **limits}
    return notes


def _known(values: Float) -> list[float]:
    return [float(one) if np.isfinite(one) else UNKNOWN for one in values]
