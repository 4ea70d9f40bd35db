"""What to let a robot do so that its drives can be learned: motion within its limits that covers what a policy asks.

Legs follow sine paths of the foot (5 to 10 cm, 1 to 25 Hz, after Hwangbo et al. 2019), other joints follow chirps.
Smooth sweeps do not cover the stepped targets of a policy, so that part of the motion holds and jitters targets at its
rate.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.log import ActuatorLog, joined
from isthmus.actuators.plant import Plant
from isthmus.actuators.predict import predicted
from isthmus.actuators.replay import Windows, replay
from isthmus.core import Float, Problem, stream

SLOWEST, FASTEST = 1.0, 25.0
"""Hz of sweeps."""
SHORT, LONG = 0.05, 0.10
"""Metres of a foot's path, either way."""
MARGIN = 0.05
"""Share of a joint's range that is left free at both ends."""
CHIRP = 0.35
"""rad that a joint of an arm swings either way, where its range allows."""
JITTER = 0.12
"""rad by which held targets are scattered."""
LEG = 3
"""Joints of a leg, whose foot can then be put anywhere."""


@dataclass(frozen=True)
class Plan:
    """How an excitation is made up."""

    seconds: float = 120.0
    rate: float = 400.0
    """Targets a second."""
    policy_rate: float = 50.0
    """Targets a second of the policy that the model is for."""
    speed: float = 8.0
    """rad/s that targets move at most."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse plans that cannot be made."""
        if not (5 <= self.seconds <= 3600 and 10 <= self.rate <= 10_000 and 1 <= self.policy_rate <= self.rate):
            raise Problem("an excitation takes 5 to 3600 s, at 10 to 10000 Hz and no less than the policy's rate")
        if not self.speed > 0:
            raise Problem(f"the speed of targets must be positive, got {self.speed:g}")


@dataclass(frozen=True)
class Excitation:
    """Targets for a robot."""

    dt: float
    joints: tuple[str, ...]
    target: Float
    """(T, J) rad."""
    parts: tuple[tuple[str, int], ...]
    """Name and first row of each part; a person does by hand what its name says."""


def excitation(plant: Plant, stance: Float, plan: Plan) -> Excitation:
    """Targets around a pose (J,): sweeps, holds at the policy's rate, both again in contact and under pushes."""
    rows = round(plan.seconds * plan.rate / 5)
    low, high = _limits(plant)
    if (stance < low).any() or (stance > high).any():
        joint = plant.joints[int(np.argmax((stance < low) | (stance > high)))]
        raise Problem(f"the pose to start from is outside the range of {joint}: give another with --stance")
    parts: list[tuple[str, Float]] = []
    for number, name in enumerate(
        ("sweep", "holds", "chirps", "sweep in contact with the ground", "holds under pushes")
    ):
        rng = stream(plan.seed, "excite", number)
        if name.startswith("sweep"):
            target = _sweep(plant, stance, rows, plan, rng)
        elif name == "chirps":
            target = _chirps(plant, stance, rows, plan, rng, low, high)
        else:
            target = _holds(_sweep(plant, stance, rows, plan, rng), plan, rng)
        parts.append((name, _within(_eased(target, stance, plan), stance, low, high, plan)))
    firsts = np.cumsum([0, *(len(target) for _, target in parts[:-1])])
    named = tuple((name, int(first)) for (name, _), first in zip(parts, firsts, strict=True))
    return Excitation(1 / plan.rate, plant.joints, np.concatenate([target for _, target in parts]), named)


def _limits(plant: Plant) -> tuple[Float, Float]:
    joints = plant.model.dof_jntid[plant.dofs]
    limited = plant.model.jnt_limited[joints].astype(bool)
    low, high = (np.where(limited, plant.model.jnt_range[joints, end], sign * np.pi) for end, sign in ((0, -1), (1, 1)))
    width = high - low
    return low + MARGIN * width, high - MARGIN * width


def _frequency(rows: int, plan: Plan, rng: np.random.Generator) -> tuple[Float, Float]:
    """A sweep on a logarithmic scale that begins anywhere (T,), and its phase (T,)."""
    along = (np.arange(rows) / rows + rng.uniform()) % 1
    frequency = SLOWEST * (min(FASTEST, plan.rate / 8) / SLOWEST) ** along
    return frequency, 2 * np.pi * np.cumsum(frequency) / plan.rate


def _sweep(plant: Plant, stance: Float, rows: int, plan: Plan, rng: np.random.Generator) -> Float:
    """Sine paths of the feet; joints that are no legs follow chirps."""
    low, high = _limits(plant)
    out = _chirps(plant, stance, rows, plan, rng, low, high)
    for tree in np.unique(plant.trees):
        own = np.flatnonzero(plant.trees == tree)
        if len(own) != LEG:
            continue
        frequency, phase = _frequency(rows, plan, rng)
        size = rng.uniform(SHORT, LONG) * np.minimum(1, np.sqrt(3 / frequency)) * np.minimum(1, 5 / frequency)
        turns = rng.uniform(0, 2 * np.pi, 3)
        path = np.stack(
            [
                0.5 * size * np.sin(phase + turns[0]),
                0.25 * size * np.sin(0.7 * phase + turns[1]),
                size * np.sin(phase + turns[2]),
            ],
            axis=1,
        )
        out[:, own] = _followed(plant, stance, own, path)
    return out


def _followed(plant: Plant, stance: Float, own: NDArray[np.int64], path: Float) -> Float:
    """Joint angles (T, 3) of a leg whose foot goes along `path` (T, 3): damped least squares, row by row."""
    model, data = plant.model, mujoco.MjData(plant.model)
    foot = _foot(plant, own)
    data.qpos[plant.positions] = stance
    mujoco.mj_kinematics(model, data)
    home, out, jacobian = foot_position(data, foot), np.empty_like(path), np.zeros((3, model.nv))
    for row, offset in enumerate(path):
        for _ in range(3):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            at = foot_position(data, foot)
            mujoco.mj_jac(model, data, jacobian, None, at, foot[0])
            part: Float = jacobian[:, plant.dofs[own]]
            step = np.asarray(
                part.T @ np.linalg.solve(part @ part.T + 1e-5 * np.eye(3), home + offset - at), np.float64
            )
            data.qpos[plant.positions[own]] += np.clip(step, -0.2, 0.2)
        out[row] = data.qpos[plant.positions[own]]
    return out


def _foot(plant: Plant, own: NDArray[np.int64]) -> tuple[int, Float]:
    """The last body of a leg, and the point in it that is furthest from its joint: the centre of a geom."""
    model = plant.model
    last = int(model.jnt_bodyid[model.dof_jntid[plant.dofs[own[-1]]]])
    below = [body for body in range(model.nbody) if _carries(model, last, body)]
    geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] in below]
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    points = [data.geom_xpos[geom] for geom in geoms] or [data.xipos[last]]
    joint = data.xanchor[model.dof_jntid[plant.dofs[own[-1]]]]
    far = max(points, key=lambda point: float(np.linalg.norm(point - joint)))
    return last, data.xmat[last].reshape(3, 3).T @ (far - data.xpos[last])


def _carries(model: mujoco.MjModel, body: int, other: int) -> bool:
    while other > body:
        other = int(model.body_parentid[other])
    return other == body


def foot_position(data: mujoco.MjData, foot: tuple[int, Float]) -> Float:
    """The position of the foot in the world frame (3,), in m."""
    return data.xpos[foot[0]] + data.xmat[foot[0]].reshape(3, 3) @ foot[1]


def _chirps(
    plant: Plant, stance: Float, rows: int, plan: Plan, rng: np.random.Generator, low: Float, high: Float
) -> Float:
    """Every joint for itself, each at another phase."""
    out = np.tile(stance, (rows, 1))
    room = np.minimum(np.minimum(stance - low, high - stance), CHIRP)
    for joint in range(len(plant.joints)):
        frequency, phase = _frequency(rows, plan, rng)
        swing = np.minimum(room[joint], plan.speed / (2 * np.pi * frequency)) * np.minimum(1, 5 / frequency)
        out[:, joint] += swing * np.sin(phase + rng.uniform(0, 2 * np.pi))
    return out


def _holds(target: Float, plan: Plan, rng: np.random.Generator) -> Float:
    """Targets that change at the policy's rate only, and jump as a policy's do."""
    every = max(1, round(plan.rate / plan.policy_rate))
    held = target[::every] + rng.normal(0, JITTER, target[::every].shape)
    return np.repeat(held, every, axis=0)[: len(target)]


def _eased(target: Float, stance: Float, plan: Plan) -> Float:
    """The targets, faded in and out over half a second from the standing pose."""
    ramp = np.minimum(1, np.arange(len(target)) / (0.5 * plan.rate))
    window = np.minimum(ramp, ramp[::-1])[:, None]
    return stance + window * (target - stance)


def _within(target: Float, stance: Float, low: Float, high: Float, plan: Plan) -> Float:
    """The targets inside the range; smooth ones that are too fast are made slower, jumps of holds stay."""
    clipped = np.clip(target, low, high)
    steps = np.abs(np.diff(clipped, axis=0))
    if np.quantile(steps, 0.5) == 0:  # held targets jump: the drive limits how fast the joint follows
        return clipped
    fastest = steps.max(axis=0) * plan.rate
    return stance + (clipped - stance) * np.minimum(1, plan.speed / np.maximum(fastest, 1e-9))


def played(excited: Excitation, plant: Plant, actuator: Actuator) -> ActuatorLog:
    """What a simulated robot does under the excitation, as a log with the torque of its drives."""
    rest = np.zeros_like(excited.target)
    ends = (*(first for _, first in excited.parts[1:]), len(excited.target))
    logs: list[ActuatorLog] = []
    for (name, first), end in zip(excited.parts, ends, strict=True):
        rows = slice(first, end)
        still = np.tile(excited.target[first], (end - first, 1))
        log = ActuatorLog(excited.dt, excited.joints, excited.target[rows], still, rest[rows], names=(name,))
        position = replay(actuator, plant, log, Windows(np.array([0]), end - first))[0]
        velocity = np.gradient(position, excited.dt, axis=0)
        log = ActuatorLog(excited.dt, excited.joints, excited.target[rows], position, velocity, names=(name,))
        law = actuator.pd
        gains: dict[str, Any] = {} if law is None else {"kp": law.kp, "kd": law.kd}
        logs.append(
            ActuatorLog(
                excited.dt,
                excited.joints,
                excited.target[rows],
                position,
                velocity,
                predicted(actuator, log),
                names=(name,),
                **gains,
            )
        )
    return joined(logs)


def covered(log: ActuatorLog, inputs: ActuatorLog, bins: int = 12) -> float:
    """Share of the errors and velocities of `inputs` that fall where `log` has been, on a grid of both."""
    shares: list[float] = []
    for joint in range(len(log.joints)):
        wanted = np.stack((inputs.error[:, joint], inputs.velocity[:, joint]), axis=1)
        had = np.stack((log.error[:, joint], log.velocity[:, joint]), axis=1)
        low, high = wanted.min(axis=0), wanted.max(axis=0)
        size = np.maximum((high - low) / bins, 1e-9)
        places = {tuple(cell) for cell in np.floor((had - low) / size).astype(int).tolist()}
        shares.append(
            float(np.mean([tuple(cell) in places for cell in np.floor((wanted - low) / size).astype(int).tolist()]))
        )
    return float(np.mean(shares))
