"""Fit a drive without measured torque: gains, delay, friction and armature that make the simulator replay the log.

Levenberg and Marquardt's method on the positions of short replays. All perturbed simulations run side by side, and
joints that do not move each other, as those of different legs, are perturbed together.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.fit.inputs import contract_for
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.parts import SMOOTH, Joint, Pd
from isthmus.actuators.plant import Plant
from isthmus.actuators.replay import FAR, NO_STAGE, Windows, steps_per_sample
from isthmus.core import Float

KINDS = ("kp", "kd", "delay", "friction", "damping", "armature", "bias", "limit", "load")
"""What is fitted for each joint; the positive ones by their logarithm."""
LOGARITHMIC = np.array([True, True, False, True, True, True, False, True, True])
NUDGE = np.array([0.02, 0.03, 5e-4, 0.05, 0.05, 0.03, 0.01, 0.03, 0.1])
"""How far each is perturbed: shares, seconds, and for the bias a share of the torque scale."""
LOWEST = np.array([1e-3, 1e-6, 0.0, 1e-6, 1e-6, 1e-7, -np.inf, 1e-3, 1e-5])
HIGHEST = np.array([1e5, 1e4, 0.1, 1e3, 1e3, 1e2, np.inf, 1e6, 0.6])
ITERATIONS = 14
ENOUGH = 2e-3
"""An iteration that takes less than this share of the error away is the last."""
MOST_SIMULATIONS = 1500


@dataclass(frozen=True)
class ReplayFit:
    """A fitted drive, and how far its replays are from the recording."""

    actuator: Actuator
    rmse: float
    """On the windows that it was fitted to, in rad."""


def fit_by_replay(
    log: ActuatorLog,
    plant: Plant,
    where: Windows,
    start: Float,
    *,
    free: tuple[str, ...] = KINDS,
    iterations: int = ITERATIONS,
    report: Callable[[float], None] = lambda _done: None,
) -> ReplayFit:
    """The drive whose replays of the windows come closest to the recording.

    `start` (kinds, J) are the first values of `KINDS`; those that are not `free` stay.
    """
    theta = np.clip(start, LOWEST[:, None], HIGHEST[:, None])
    scale = np.maximum(theta[0] * np.abs(log.error).max(axis=0), 1e-6)  # (J,): the unit of a bias
    wanted = where.of(log.position)
    changes = _changes(plant, [KINDS.index(kind) for kind in free])
    now = _residual(plant, log, where, theta[None], wanted)[0]
    damp, error = 1e-2, _rms(now)
    for iteration in range(iterations):
        jacobian = _jacobian(plant, log, where, theta, wanted, now, changes, scale)
        better = None
        while damp < 1e4 and better is None:
            trials = np.stack([_moved(theta, jacobian, now, plant, damp * factor, scale) for factor in (0.2, 1, 5)])
            found = _residual(plant, log, where, trials, wanted)
            errors = [_rms(one) for one in found]
            best = int(np.argmin(errors))
            if errors[best] < error:
                better = errors[best]
                theta, now, damp = trials[best], found[best], max(damp * (0.2, 1, 5)[best] * 0.5, 1e-6)
            else:
                damp *= 25
        report((iteration + 1) / iterations)
        if better is None or error - better < ENOUGH * error:
            error = error if better is None else better
            break
        error = better
    return ReplayFit(_actuator(log, theta), error)


def _actuator(log: ActuatorLog, theta: Float) -> Actuator:
    kp, kd, delay, friction, damping, armature, bias, limit, load = theta
    law = Pd(kp, kd, delay / log.dt, limit, np.zeros_like(kp), np.zeros_like(kp), bias, load=load)
    gain = 1.0 if log.gain is None else log.gain
    torque = np.clip(kp * gain * log.error - kd * log.velocity, -limit, limit) + bias
    contract = contract_for(log, (0,), torque, limit + np.abs(bias))
    return Actuator(contract, pd=law, joint=Joint(armature, damping, friction), name="PD fitted")


def values_of(actuator: Actuator, dt: float) -> Float:
    """The values (kinds, J) that make this drive: what another fit can start from."""
    if actuator.pd is None or actuator.joint is None:
        raise ValueError("only a drive that was fitted by replay has these values")
    law, joint = actuator.pd, actuator.joint
    return np.stack(
        (
            law.kp,
            law.kd,
            law.delay * dt,
            joint.frictionloss,
            joint.damping,
            joint.armature,
            law.bias,
            law.limit,
            law.rub,
        )
    )


def _changes(plant: Plant, kinds: list[int]) -> list[tuple[int, NDArray[np.int64]]]:
    """What is perturbed together: a kind, and the joints, one of each tree at most."""
    trees, taken = plant.trees, np.zeros(len(plant.joints), np.int64)
    for joint in range(len(trees)):
        taken[joint] = np.count_nonzero(trees[:joint] == trees[joint])
    return [(kind, np.flatnonzero(taken == turn)) for kind in kinds for turn in range(taken.max() + 1)]


def _nudged(theta: Float, kind: int, joints: NDArray[np.int64], scale: Float, size: Float | float) -> Float:
    out = theta.copy()
    if LOGARITHMIC[kind]:
        out[kind, joints] *= np.exp(size)
    else:
        out[kind, joints] += size * (scale[joints] if KINDS[kind] == "bias" else 1.0)
    return np.clip(out, LOWEST[:, None], HIGHEST[:, None])


Jacobian = dict[int, tuple[list[tuple[int, int]], Float]]
"""For every tree: the (kind, joint) of each column, and the columns (rows, columns)."""


def _jacobian(
    plant: Plant,
    log: ActuatorLog,
    where: Windows,
    theta: Float,
    wanted: Float,
    now: Float,
    changes: list[tuple[int, NDArray[np.int64]]],
    scale: Float,
) -> Jacobian:
    variants = np.stack([_nudged(theta, kind, joints, scale, float(NUDGE[kind])) for kind, joints in changes])
    moved = _residual(plant, log, where, variants, wanted)
    trees = plant.trees
    out: Jacobian = {}
    for tree in np.unique(trees):
        own = np.flatnonzero(trees == tree)
        columns: list[tuple[int, int]] = []
        slopes: list[Float] = []
        for (kind, joints), there in zip(changes, moved, strict=True):
            mine = [int(joint) for joint in joints if trees[joint] == tree]
            if mine:
                columns.append((kind, mine[0]))
                slopes.append((there - now)[..., own].ravel() / float(NUDGE[kind]))
        out[int(tree)] = columns, np.stack(slopes, axis=1)
    return out


def _moved(theta: Float, jacobian: Jacobian, now: Float, plant: Plant, damp: float, scale: Float) -> Float:
    """The values after a damped step of Gauss and Newton in every tree."""
    out = theta.copy()
    for tree, (columns, slopes) in jacobian.items():
        residual = now[..., plant.trees == tree].ravel()
        normal = slopes.T @ slopes
        normal[np.diag_indices_from(normal)] += damp * np.maximum(np.diag(normal), 1e-12 * np.trace(normal) + 1e-300)
        change = -np.linalg.solve(normal, slopes.T @ residual)
        for (kind, joint), size in zip(columns, change, strict=True):
            most = 1.0 if LOGARITHMIC[kind] else (0.02 if KINDS[kind] == "delay" else 1.0)
            out = _nudged(out, kind, np.array([joint]), scale, float(np.clip(size, -most, most)))
    return out


def _rms(residual: Float) -> float:
    return float(np.sqrt(np.mean(np.square(residual))))


def _residual(plant: Plant, log: ActuatorLog, where: Windows, theta: Float, wanted: Float) -> Float:
    """Replayed minus recorded positions (P, W, length, J) for P sets of values (P, kinds, J)."""
    at_once = max(1, MOST_SIMULATIONS // len(where.first))
    parts = [_simulated(plant, log, where, theta[first : first + at_once]) for first in range(0, len(theta), at_once)]
    return np.clip(np.concatenate(parts) - wanted, -1.0, 1.0)


def _simulated(plant: Plant, log: ActuatorLog, where: Windows, theta: Float) -> Float:
    """Positions (P, W, length, J) for P sets of values (P, kinds, J)."""
    substeps, sets, count = steps_per_sample(log.dt), len(theta), len(where.first)
    model = copy.copy(plant.model)
    model.opt.timestep = log.dt / substeps
    mujoco.mj_setConst(model, mujoco.MjData(model))
    batch = Batch(model, nsim=sets * count, nthread=1)
    qpos, qvel, force = (batch.bind(name) for name in ("qpos", "qvel", "qfrc_applied"))
    each = np.repeat(theta, count, axis=0)  # (P W, kinds, J)
    kp, kd, delay, friction, damping, armature, bias, limit, load = each.transpose(1, 0, 2)
    for name, values in (("dof_armature", armature), ("dof_frictionloss", friction), ("dof_damping", damping)):
        field = batch.expand(name)
        own = field[..., 0] if field.ndim == 3 else field
        own[:, plant.dofs] = values
    batch.set_const()
    batch.reset()
    qpos[:, plant.positions] = np.tile(log.position[where.first], (sets, 1))
    qvel[:, plant.dofs] = np.tile(log.velocity[where.first], (sets, 1))
    out = np.empty((sets * count, where.length, len(plant.joints)))
    out[:, 0] = qpos[:, plant.positions]
    first, age = np.tile(where.first, sets)[:, None], np.tile(log.age()[where.first], sets)[:, None]
    late = delay / log.dt * substeps
    whole = np.floor(late).astype(np.int64)
    part, joints = late - whole, np.arange(len(plant.joints))
    for sample in range(where.length - 1):
        for inner in range(substeps):
            rows = [(sample * substeps + inner - whole - more) // substeps for more in (0, 1)]
            near, far = (log.target[first + np.maximum(row, -age), joints] for row in rows)
            asked = near + part * (far - near)
            if log.command == "position":
                asked = asked - qpos[:, plant.positions]
            if log.gain is not None:
                asked = asked * log.gain[first[:, 0] + sample]
            drive = kp * asked - kd * qvel[:, plant.dofs]
            drive = np.clip(drive, -limit, limit)
            rub = load * np.abs(drive) * np.tanh(qvel[:, plant.dofs] / SMOOTH)
            force[:, plant.dofs] = drive - rub + bias
            batch.step(nstep=1, stage=NO_STAGE)
        out[:, sample + 1] = qpos[:, plant.positions]
        bad = ~((np.abs(qpos) < FAR).all(axis=1) & (np.abs(qvel) < 1e6).all(axis=1))
        if bad.any():
            qpos[bad], qvel[bad] = 0.0, 0.0
            out[bad, sample + 1 :] = FAR
    return np.nan_to_num(out, nan=FAR).reshape(sets, count, where.length, -1)
