"""Replay a recording through a simulator: start as the robot did, give the same targets, see where the joints go."""

import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.channel import set_joints
from isthmus.actuators.engine import SETTLE, Columns, Engine, make_engine
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.plant import Plant
from isthmus.core import Float, Int, Problem

STEP = 0.00125
"""Seconds of a physics step at most: drives are fast."""
SECONDS = 1.0
"""How long a replay runs before it begins again where the robot was."""
FAR = 1e3
"""Where a simulation that diverged is said to be, in rad."""
NO_STAGE = mujoco.mjtStage.mjSTAGE_NONE.value


@dataclass(frozen=True)
class Windows:
    """Where replays of a log begin, and how long they are."""

    first: Int
    """(W,): rows of the log."""
    length: int
    """Samples of each, the first included."""

    def of(self, values: Float) -> Float:
        """The part (W, length, J) of values (T, J) that is replayed."""
        return values[self.first[:, None] + np.arange(self.length)]


def windows(log: ActuatorLog, seconds: float = SECONDS) -> Windows:
    """Windows one after the other in every segment; what is left over at its end is covered by one that overlaps."""
    length = max(2, round(seconds / log.dt) + 1)
    first: list[int] = []
    for start, end in log.bounds:
        if end - start < length:
            continue
        rows = list(range(start, end - length + 1, length - 1))
        if end - length - rows[-1] > length // 4:
            rows.append(end - length)
        first += rows
    if not first:
        longest = max(end - start for start, end in log.bounds) * log.dt
        raise Problem(f"a replay of {seconds:g} s does not fit into recordings of at most {longest:.2g} s")
    return Windows(np.array(first, np.int64), length)


def replay(actuator: Actuator, plant: Plant, log: ActuatorLog, where: Windows) -> Float:
    """Simulated positions (W, length, J) of every window; the first is the recorded one.

    What the model remembers at the start of a window is recorded, too.
    """
    substeps = steps_per_sample(log.dt)
    held = actuator.gru is not None  # it runs at the rate of its data
    model = _model(plant, actuator, log.dt / substeps)
    fitted = actuator.at(log.dt if held else log.dt / substeps)
    n = len(where.first)
    batch = Batch(model, nsim=n, nthread=1)  # threads that wait for each other at every step are slower
    qpos, qvel, force = (batch.bind(name) for name in ("qpos", "qvel", "qfrc_applied"))
    batch.reset()
    engine = make_engine(fitted, n, Columns(fitted.contract.size, position=plant.positions, velocity=plant.dofs))
    _warm_up(engine, log, where, plant, 1 if held else substeps, SETTLE if held else fitted.depth)
    qpos[:, plant.positions], qvel[:, plant.dofs] = log.position[where.first], log.velocity[where.first]
    out = np.empty((n, where.length, len(plant.joints)))
    out[:, 0] = log.position[where.first]
    torque = np.empty((n, len(plant.joints)))
    for sample in range(where.length - 1):
        rows = where.first + sample
        target = np.ascontiguousarray(log.target[rows])
        for inner in range(substeps):
            if inner == 0 or not held:
                asked = target if log.gain is None else _softened(target, qpos[:, plant.positions], log.gain[rows])
                engine.step(asked, qpos, qvel, out=torque)
            force[:, plant.dofs] = torque
            batch.step(nstep=1, stage=NO_STAGE)
        out[:, sample + 1] = qpos[:, plant.positions]
        _settle_diverged(qpos, qvel)
    return np.nan_to_num(np.clip(out, -FAR, FAR), nan=FAR)


def steps_per_sample(dt: float) -> int:
    """Physics steps between two samples of a log."""
    return max(1, int(np.ceil(dt / STEP - 1e-9)))


def _model(plant: Plant, actuator: Actuator, dt: float) -> mujoco.MjModel:

    model = copy.copy(plant.model)
    model.opt.timestep = dt
    if actuator.joint is not None:
        set_joints(model, actuator.joint, plant.dofs)
    return model


def _warm_up(engine: Engine, log: ActuatorLog, where: Windows, plant: Plant, substeps: int, depth: int) -> None:
    """Show the engine the recorded samples before each window, as far as the segment has any."""
    size = (len(where.first), max(int(plant.positions.max()), int(plant.dofs.max())) + 1)
    back = -(-depth // substeps)
    age = log.age()[where.first]
    for sample in range(back, 0, -1):
        rows = where.first - np.minimum(sample, age)
        position, velocity = np.zeros(size), np.zeros(size)
        position[:, plant.positions], velocity[:, plant.dofs] = log.position[rows], log.velocity[rows]
        for _ in range(substeps):
            target = np.ascontiguousarray(log.target[rows])
            if log.gain is not None:
                target = _softened(target, log.position[rows], log.gain[rows])
            engine.step(target, position, velocity)


def _softened(target: Float, position: Float, gain: Float) -> Float:
    """The target (n, J) that makes a drive of full gain pull as one that was set to a share of it."""
    return position + gain * (target - position)


def thinned(where: Windows, most: int) -> Windows:
    """At most so many of the windows, evenly spread."""
    if len(where.first) <= most:
        return where
    chosen = np.linspace(0, len(where.first) - 1, most).round().astype(np.int64)
    return Windows(where.first[chosen], where.length)


def _settle_diverged(qpos: Float, qvel: Float) -> None:
    """Hold simulations that have run away, so that MuJoCo goes on with the others."""
    bad = ~(np.abs(qpos) < FAR).all(axis=1) | ~(np.abs(qvel) < 1e6).all(axis=1)
    if bad.any():
        qpos[bad], qvel[bad] = FAR, 0.0
