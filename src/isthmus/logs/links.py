"""What each joint of a robot moves: lengths and masses, in frames at the joints."""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.logs.robot_body import HINGE, Index


@dataclass(frozen=True)
class Link:
    """What a joint moves until the next joint. Its frame is at the joint, with the joint's axis as z."""

    parent: int
    """Place of the link that carries it; -1 for the stand."""
    hinge: bool
    turn: Float
    """(3, 3) from this frame to the parent's, at the joint's reference position."""
    place: Float
    """(3,) this origin in the parent's frame, at the joint's reference position."""
    reference: float
    """Position of the joint in the model's reference pose."""
    mass: float
    moment: Float
    """(3,) mass times centre of mass."""
    inertia: Float
    """(3, 3) about the origin."""
    carried: float
    """Mass whose weight counts as carried."""
    carried_moment: Float
    """(3,)."""


def links_of(model: mujoco.MjModel, ids: Index) -> list[Link]:
    """The links of joints `ids`, which ascend, with all other joints of the model held where they start."""
    data = mujoco.MjData(model)
    data.qpos[:] = model.key_qpos[0] if model.nkey else model.qpos0
    places = model.jnt_qposadr[ids]
    data.qpos[places] = model.qpos0[places]
    mujoco.mj_kinematics(model, data)
    frames = [(_frame(data.xaxis[joint]), np.array(data.xanchor[joint])) for joint in ids]
    carriers = _carriers(model, ids)
    found: list[Link] = []
    for number, joint in enumerate(ids.tolist()):
        frame, origin = frames[number]
        parent = number - 1
        if (
            parent < 0 or model.jnt_bodyid[ids[parent]] != model.jnt_bodyid[joint]
        ):  # of one body, one is after the other
            parent = carriers[int(model.body_parentid[model.jnt_bodyid[joint]])]
        base, at = frames[parent] if parent >= 0 else (np.eye(3), np.zeros(3))
        bodies = [body for body, carrier in enumerate(carriers) if carrier == number]
        weights = np.asarray(model.body_mass[bodies] * model.body_gravcomp[bodies], np.float64)
        centres = (data.xipos[bodies] - origin) @ frame  # (k, 3)
        found.append(
            Link(
                parent,
                bool(model.jnt_type[joint] == HINGE),
                base.T @ frame,
                base.T @ (origin - at),
                float(model.qpos0[model.jnt_qposadr[joint]]),
                float(np.sum(model.body_mass[bodies])),
                np.asarray(model.body_mass[bodies] @ centres, np.float64),
                _inertia(model, data, bodies, frame, centres),
                float(weights.sum()),
                weights @ centres,
            )
        )
    return found


def _carriers(model: mujoco.MjModel, ids: Index) -> list[int]:
    """For each body the place of the last joint that moves it; -1 for what stands still."""
    found = [-1] * model.nbody
    own = {int(model.jnt_bodyid[joint]): place for place, joint in enumerate(ids.tolist())}
    for body in range(1, model.nbody):
        found[body] = own.get(body, found[int(model.body_parentid[body])])
    return found


def _frame(axis: Float) -> Float:
    """Directions (3, 3), in columns, of which the last is the axis."""
    aside = np.eye(3)[int(np.abs(axis).argmin())]
    first = np.cross(aside, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), axis], axis=1)


def _inertia(model: mujoco.MjModel, data: mujoco.MjData, bodies: list[int], frame: Float, centres: Float) -> Float:
    """Inertia (3, 3) of some bodies about the origin of a frame, by its directions."""
    whole = np.zeros((3, 3))
    for body, centre in zip(bodies, centres, strict=True):
        turn = frame.T @ data.ximat[body].reshape(3, 3)
        away = float(centre @ centre) * np.eye(3) - np.outer(centre, centre)
        whole += turn @ np.diag(model.body_inertia[body]) @ turn.T + float(model.body_mass[body]) * away
    return whole
