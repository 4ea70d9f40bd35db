"""The PD law as it is written, and as it fits the torque: gains, delay, friction and saturation of each joint."""

import numpy as np

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.fit.inputs import contract_for, measured
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.parts import SMOOTH, Pd
from isthmus.core import Float, Problem

LONGEST_DELAY = 0.04
"""Seconds: a drive that takes longer to answer is looked for in vain."""
MOST_ROWS = 8_000
"""Rows of a joint that a law is fitted on."""
CLEARLY = 0.99
"""A saturation is believed if it takes at least so much of the error away."""
QUANTILES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995)
"""Quantiles of the measured torque between which a saturation limit is searched for."""


def ideal_law(log: ActuatorLog) -> Pd:
    """The law with the gains that the drive was set to; for an effort command, the command itself."""
    if log.command == "effort":
        return Pd.ideal(np.ones(len(log.joints)), np.zeros(len(log.joints)))
    if log.kp is None or log.kd is None:
        raise Problem("the log does not say which gains the drive was set to: give --kp and --kd, or their columns")
    return Pd.ideal(log.kp, log.kd)


def ideal_pd(log: ActuatorLog, effort_limit: Float | None = None) -> Actuator:
    """A model that believes the data sheet."""
    contract = contract_for(log, (0,), measured(log), effort_limit)
    return Actuator(contract, pd=ideal_law(log), name="ideal PD")


def fit_pd(log: ActuatorLog, effort_limit: Float | None = None) -> Actuator:
    """Gains, delay, dry and viscous friction, saturation and bias of each joint, by least squares on the torque."""
    torque = measured(log)
    contract = contract_for(log, (0,), torque, effort_limit)
    joints = [_joint(log, torque, joint) for joint in range(len(log.joints))]
    kp, kd, delay, limit, coulomb, bias = (np.array(numbers) for numbers in zip(*joints, strict=True))
    law = Pd(kp, kd, delay, limit, coulomb, np.zeros(len(kp)), bias)
    return Actuator(contract, pd=law, name="PD fitted")


def _joint(log: ActuatorLog, torque: Float, joint: int) -> tuple[float, float, float, float, float, float]:
    """kp, kd, delay in samples, limit, dry friction and bias of one joint."""
    tau, velocity = torque[:, joint], log.velocity[:, joint]
    friction = np.tanh(velocity / SMOOTH)
    rows = np.unique(np.linspace(0, len(log) - 1, MOST_ROWS).round().astype(int))

    def tried(delay: float, limit: float) -> tuple[float, Float]:
        drive = _delayed(log, joint, delay)
        if log.command == "position":
            drive = drive - log.position[:, joint]
        found, error = _solve(drive[rows], velocity[rows], friction[rows], tau[rows], limit)
        return error, found

    delays = np.arange(0.0, max(LONGEST_DELAY / log.dt, 1.0) + 0.25, 0.5)
    delay = float(min(delays, key=lambda one: tried(float(one), np.inf)[0]))
    error, found = tried(delay, np.inf)
    limit = np.inf
    for one in np.quantile(np.abs(tau), QUANTILES)[::-1]:
        less, other = tried(delay, float(one))
        if less < error * CLEARLY:
            error, found, limit = less, other, float(one)
    return found[0], found[1], delay, limit, found[2], found[3]


def _solve(drive: Float, velocity: Float, friction: Float, tau: Float, limit: float) -> tuple[Float, float]:
    """Least squares on the rows where the drive does not saturate, which are those that the solution itself says."""
    design = np.column_stack((drive, -velocity, -friction, np.ones(len(tau))))
    free = np.abs(tau) < limit
    found: Float = np.zeros(4)
    for _ in range(3 if np.isfinite(limit) else 1):
        if np.count_nonzero(free) < 4 * design.shape[1]:
            return found, np.inf
        found = np.asarray(np.linalg.lstsq(design[free], tau[free], rcond=None)[0], np.float64)
        free = np.abs(design[:, :2] @ found[:2]) < limit
    found[2] = max(found[2], 0.0)
    given = np.clip(design[:, :2] @ found[:2], -limit, limit) + design[:, 2:] @ found[2:]
    return found, float(np.sqrt(np.mean(np.square(given - tau))))


def _delayed(log: ActuatorLog, joint: int, delay: float) -> Float:
    """The target `delay` samples before (T,), interpolated between samples, never across the start of a segment."""
    rows, age = np.arange(len(log)), log.age()
    near, far = (rows - np.minimum(age, steps) for steps in (int(delay), int(np.ceil(delay))))
    target, part = log.target[:, joint], delay - int(delay)
    return (1 - part) * target[near] + part * target[far]
