"""Replay a recording in the simulator: begin where the robot was, give what it was given, see where the joints go."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch

from isthmus.core import Bool, Float, Int
from isthmus.replay.parameters import Parameter
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.windows import Windows

FAR = 1e3
"""Where a simulation that diverged is said to be."""
MOST_NUMBERS = 30_000_000
"""Numbers that a batch of replays may record at once: 240 MB."""
NO_STAGE = mujoco.mjtStage.mjSTAGE_NONE.value
Residual = Callable[[Float, Float, Float, Float, Float], Float]
"""From positions (N, n), velocities (N, n), commands (N, m), and positions and velocities (N, n) a sample later as the
model has them, to what those velocities are to be changed by (N, n)."""


@dataclass(frozen=True)
class Replayed:
    """Where P models went in W windows."""

    position: Float
    """(P, W, length, n); the first sample is the recorded one."""
    velocity: Float
    """(P, W, length, n)."""


def replay(
    rig: Rig,
    recording: Recording,
    where: Windows,
    free: Sequence[Parameter] = (),
    z: Float | None = None,
    residual: Residual | None = None,
) -> Replayed:
    """Replay every window in every model: those that the rows of z (P, k) make of the parameters `free`."""
    sets = np.zeros((1, len(free))) if z is None else z
    steps = round(recording.dt / rig.model.opt.timestep)
    each = len(where) * (where.length - 1) * steps * (rig.model.nq + rig.model.nv + rig.model.nu)
    at_once = max(1, MOST_NUMBERS // max(each, 1))
    parts = [
        _simulated(rig, recording, where, free, sets[first : first + at_once], residual)
        for first in range(0, len(sets), at_once)
    ]
    return Replayed(np.concatenate([one.position for one in parts]), np.concatenate([one.velocity for one in parts]))


def _simulated(
    rig: Rig, recording: Recording, where: Windows, free: Sequence[Parameter], z: Float, residual: Residual | None
) -> Replayed:
    count, sets, model = len(where), len(z), rig.model
    batch = Batch(model, nsim=sets * count)
    values = {one: np.repeat(one.value(column), count) for one, column in zip(free, z.T, strict=True)}  # (P W,)
    for parameter, value in values.items():
        if parameter.write is not None:
            parameter.write(batch.expand, value)
    if any(one.write is not None for one in free):
        batch.set_const()
    batch.reset()
    zero = _outside(values, "zero of the sensor", len(rig.joints), sets * count)  # (P W, n)
    load = _outside(values, "friction under load", len(rig.joints), sets * count)
    qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
    qpos[:, rig.positions] = np.tile(recording.position[where.first], (sets, 1)) - zero
    qvel[:, rig.dofs] = np.tile(recording.velocity[where.first], (sets, 1))
    delay = next((value for one, value in values.items() if one.family == "delay"), np.zeros(sets * count))
    control = _controls(rig, recording, where, delay, zero)
    if residual is None and not load.any():
        position, velocity = _rolled_out(rig, batch, control, where.length)
    else:
        position, velocity = _stepped(rig, batch, control, where, recording, load, residual)
    position = position + zero[:, None]
    shape = (sets, count, where.length, len(rig.joints))
    position[:, 0] = np.tile(recording.position[where.first], (sets, 1))
    velocity[:, 0] = np.tile(recording.velocity[where.first], (sets, 1))
    return Replayed(_bounded(position).reshape(shape), _bounded(velocity).reshape(shape))


def _rolled_out(rig: Rig, batch: Batch, control: Float, length: int) -> tuple[Float, Float]:
    """Positions and velocities (N, length, n) at every sample, all in one call."""
    n, steps = control.shape[0], control.shape[1] // (length - 1)
    seen = batch.rollout(control.shape[1], control, record=("qpos", "qvel"))
    out = np.empty((2, n, length, len(rig.joints)))
    out[0, :, 1:] = seen["qpos"][:, steps - 1 :: steps, rig.positions]
    out[1, :, 1:] = seen["qvel"][:, steps - 1 :: steps, rig.dofs]
    return out[0], out[1]


def _stepped(
    rig: Rig,
    batch: Batch,
    control: Float,
    where: Windows,
    recording: Recording,
    load: Float,
    residual: Residual | None,
) -> tuple[Float, Float]:
    """The same step by step, for what depends on the state and is not in the model."""
    n, length = control.shape[0], where.length
    steps, sets = control.shape[1] // (length - 1), n // len(where)
    qpos, qvel, ctrl = batch.bind("qpos"), batch.bind("qvel"), batch.bind("ctrl")
    rubs = bool(load.any())
    pull = batch.bind("qfrc_actuator") if rubs else None
    friction = batch.expand("dof_frictionloss") if rubs else None
    dry = None if friction is None else friction[:, rig.dofs].copy()
    out = np.zeros((2, n, length, len(rig.joints)))
    for sample in range(length - 1):
        before = (qpos[:, rig.positions].copy(), qvel[:, rig.dofs].copy()) if residual is not None else None
        for inner in range(steps):
            ctrl[:] = control[:, sample * steps + inner]
            if friction is not None and pull is not None and dry is not None:
                friction[:, rig.dofs] = dry + load * np.abs(pull[:, rig.dofs])
            batch.step(nstep=1, stage=NO_STAGE)
        if before is not None and residual is not None:
            given = np.tile(recording.command[where.first + sample], (sets, 1))
            qvel[:, rig.dofs] += residual(*before, given, qpos[:, rig.positions], qvel[:, rig.dofs])
        bad = _diverged(qpos, qvel)
        if bad.any():
            qpos[bad], qvel[bad] = rig.model.qpos0, 0.0
            out[0, bad, sample + 1 :] = FAR
        out[0, ~bad, sample + 1], out[1, ~bad, sample + 1] = qpos[~bad][:, rig.positions], qvel[~bad][:, rig.dofs]
    return out[0], out[1]


def _diverged(qpos: Float, qvel: Float) -> Bool:
    return np.asarray(~((np.abs(qpos) < FAR).all(axis=1) & (np.abs(qvel) < 1e5).all(axis=1)), np.bool_)


def _controls(rig: Rig, recording: Recording, where: Windows, delay: Float, zero: Float) -> Float:
    """What the actuators get in every physics step (N, steps, nu), each command as late as the delay (N,) says."""
    steps = round(recording.dt / rig.model.opt.timestep)
    n, total = len(delay), (where.length - 1) * steps
    late = delay / rig.model.opt.timestep  # in physics steps
    whole = np.floor(late).astype(np.int64)
    part = (late - whole)[:, None, None]
    first = np.tile(where.first, n // len(where))[:, None]
    age = np.tile(recording.age()[where.first], n // len(where))[:, None]
    left = np.tile(_left(recording)[where.first], n // len(where))[:, None]
    now = np.arange(total)[None, :] - whole[:, None]  # (N, steps)
    near, far = (recording.command[first + np.clip(np.floor_divide(one, steps), -age, left)] for one in (now, now - 1))
    asked = near + part * (far - near)
    for column, (joint, servo) in enumerate(zip(rig.driven.tolist(), rig.servos, strict=True)):
        if servo and joint >= 0:
            asked[:, :, column] -= zero[:, joint, None]
    control = np.zeros((n, total, rig.model.nu))
    control[:, :, rig.controls] = asked
    return control


def _left(recording: Recording) -> Int:
    """How many samples of its own segment come after each row (T,)."""
    ends = np.array([end for _, end in recording.bounds], np.int64)
    rows = np.arange(len(recording), dtype=np.int64)
    return ends[np.searchsorted(ends, rows, side="right")] - 1 - rows


def _outside(values: dict[Parameter, Float], kind: str, size: int, n: int) -> Float:
    """The values (n, size) of parameters that are not in the model."""
    out = np.zeros((n, size))
    for parameter, value in values.items():
        if parameter.kind == kind:
            out[:, parameter.index] = value
    return out


def _bounded(values: Float) -> Float:
    return np.clip(np.nan_to_num(values, nan=FAR, posinf=FAR, neginf=-FAR), -FAR, FAR)
