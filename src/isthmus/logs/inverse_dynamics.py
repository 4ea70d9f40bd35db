"""Torques that motions of a robot on a stand take, for very many moments at once.

MuJoCo computes them moment by moment, for which a search for readings of a log would wait long. Here the recursion of
Newton and Euler runs over all moments together, and only over the joints that are asked for: a limb needs no other one.
"""

from copy import copy

import mujoco
import numpy as np

from isthmus.core import Float
from isthmus.logs.links import Link, links_of
from isthmus.logs.robot_body import QUIET, RobotBody

UNUSUAL = (
    mujoco.mjtDisableBit.mjDSBL_GRAVITY.value
    | mujoco.mjtDisableBit.mjDSBL_SPRING.value
    | mujoco.mjtDisableBit.mjDSBL_DAMPER.value
)
Turned = tuple[Float, Float, Float]
"""Cosines, sines and distances (N,) by which a link is turned or slid from its reference position."""


class InverseDynamics:
    """Torques that a motion of the joints takes, with the robot's base and all other joints held."""

    def __init__(self, body: RobotBody) -> None:
        """Take lengths and masses from the body's model; joints that are not the body's stay where they start."""
        model = body.model
        self._order = np.argsort(body.ids)  # from the base out, as joints are numbered in a model
        self._links = links_of(model, body.ids[self._order])
        self._gravity = np.array(model.opt.gravity)
        dofs = model.jnt_dofadr[body.ids]
        self._armature, self._damping = np.array(model.dof_armature[dofs]), np.array(model.dof_damping[dofs])
        self._stiffness = np.array(model.jnt_stiffness[body.ids])
        self._spring = np.array(model.qpos_spring[model.jnt_qposadr[body.ids]])
        self._slow = _MomentByMoment(body) if _is_unusual(model) else None

    def torques(self, position: Float, velocity: Float, acceleration: Float, heavier: Float | None = None) -> Float:
        """What torques (N, n) take the joints through these motions, each (N, n); friction is not in them.

        What each joint moves until the next one is `heavier` (N, n) times as heavy as in the model, if given. It has
        no effect on robots with tendons or in water, whose torques MuJoCo computes.
        """
        if self._slow is not None:
            return self._slow.torques(position, velocity, acceleration)
        parts = (np.ascontiguousarray(part[:, self._order].T) for part in (position, velocity, acceleration))
        forces = self._forces(*parts)
        pulls = [np.zeros((2, 3, len(position))) for _ in forces]
        found = self._at_joints(position, velocity, acceleration)
        for number in reversed(range(len(forces))):
            link, pull, (turned, force) = self._links[number], pulls[number], forces[number]
            joint = self._order[number]
            pull += force if heavier is None else force * heavier[:, joint]
            found[:, joint] += pull[1 if link.hinge else 0, 2]
            if link.parent >= 0:
                outside = _turned_out(link, turned, pull)
                outside[1] += _cross(_place(link, turned), outside[0])
                pulls[link.parent] += outside
        return found

    def _at_joints(self, position: Float, velocity: Float, acceleration: Float) -> Float:
        """Torques (N, n) of rotors, dampers and springs."""
        stretched = self._stiffness * (position - self._spring)
        return self._armature * acceleration + self._damping * velocity + stretched

    def _forces(self, position: Float, velocity: Float, acceleration: Float) -> list[tuple[Turned, Float]]:
        """For each link how it stands to its parent, and force and torque (2, 3, N) that its motion, (n, N), takes."""
        rows = position.shape[1]
        still, weight = np.zeros((3, rows)), np.tile(-self._gravity[:, None], (1, rows))
        states, found = list[tuple[Float, ...]](), list[tuple[Turned, Float]]()
        for number, link in enumerate(self._links):
            spin, change, pull, up = states[link.parent] if link.parent >= 0 else (still, still, weight, weight)
            turned, speed = _turned(link, position[number]), velocity[number]
            place = _place(link, turned)
            pull = pull + _cross(change, place) + _cross(spin, _cross(spin, place))
            spin, change, pull, up = _turned_in(link, turned, np.stack([spin, change, pull, up]))
            if link.hinge:
                change = change + np.stack([spin[1] * speed, -spin[0] * speed, acceleration[number]])
                spin = np.stack([spin[0], spin[1], spin[2] + speed])
            else:
                pull = pull + np.stack([2 * spin[1] * speed, -2 * spin[0] * speed, acceleration[number]])
            states.append((spin, change, pull, up))
            found.append((turned, _own(link, spin, change, pull, up)))
        return found


def _turned(link: Link, position: Float) -> Turned:
    moved = position - link.reference
    return (np.cos(moved), np.sin(moved), moved) if link.hinge else (np.ones_like(moved), np.zeros_like(moved), moved)


def _place(link: Link, turned: Turned) -> Float:
    """The origin (3, N) of a link in the frame of its parent, or (3, 1) where it does not change."""
    return link.place[:, None] if link.hinge else link.place[:, None] + link.turn[:, 2:] * turned[2]


def _turned_in(link: Link, turned: Turned, vectors: Float) -> Float:
    """Vectors (k, 3, N) of the parent's frame in the link's own."""
    found = link.turn.T @ vectors
    if link.hinge:
        (cosine, sine, _), x, y = turned, found[:, 0].copy(), found[:, 1]
        found[:, 0] = cosine * x + sine * y
        found[:, 1] = cosine * y - sine * x
    return found


def _turned_out(link: Link, turned: Turned, vectors: Float) -> Float:
    """Vectors (2, 3, N) of the link's own frame in its parent's."""
    if link.hinge:
        (cosine, sine, _), x, y = turned, vectors[:, 0], vectors[:, 1]
        vectors = np.stack([cosine * x - sine * y, sine * x + cosine * y, vectors[:, 2]], axis=1)
    return link.turn @ vectors


def _own(link: Link, spin: Float, change: Float, pull: Float, up: Float) -> Float:
    """Force and torque (2, 3, N) at a link's origin that its motion takes, less the weight that counts as carried."""
    moment = link.moment[:, None]
    force = link.mass * pull + _cross(change, moment) + _cross(spin, _cross(spin, moment))
    torque = link.inertia @ change + _cross(spin, link.inertia @ spin) + _cross(moment, pull)
    if link.carried:
        force = force - link.carried * up
        torque = torque - _cross(link.carried_moment[:, None], up)
    return np.stack([force, torque])


def _cross(one: Float, other: Float) -> Float:
    """Cross products along the first axis."""
    found = np.empty((3, *np.broadcast_shapes(one.shape[1:], other.shape[1:])))
    np.subtract(one[1] * other[2], one[2] * other[1], out=found[0])
    np.subtract(one[2] * other[0], one[0] * other[2], out=found[1])
    np.subtract(one[0] * other[1], one[1] * other[0], out=found[2])
    return found


def _is_unusual(model: mujoco.MjModel) -> bool:
    """Whether a model has forces that are left to MuJoCo: of air and water, of tendons, or some switched off."""
    fluid = model.opt.density > 0 or model.opt.viscosity > 0
    return bool(fluid or model.ntendon or model.opt.disableflags & UNUSUAL)


class _MomentByMoment:
    """The same by MuJoCo."""

    def __init__(self, body: RobotBody) -> None:
        self._model = copy(body.model)
        self._model.opt.disableflags |= QUIET
        self._data = mujoco.MjData(self._model)
        pose = body.model.key_qpos[0] if body.model.nkey else body.model.qpos0
        self._pose = np.array(pose)
        self._places, self._dofs = self._model.jnt_qposadr[body.ids], self._model.jnt_dofadr[body.ids]

    def torques(self, position: Float, velocity: Float, acceleration: Float) -> Float:
        """Torques (N, n) of motions, each (N, n)."""
        rows = len(position)
        qpos = np.tile(self._pose, (rows, 1))
        qvel, qacc = np.zeros((2, rows, self._model.nv))
        qpos[:, self._places], qvel[:, self._dofs], qacc[:, self._dofs] = position, velocity, acceleration
        found = np.empty((rows, self._model.nv))
        model, data = self._model, self._data
        for row in range(rows):
            data.qpos[:], data.qvel[:], data.qacc[:] = qpos[row], qvel[row], qacc[row]
            mujoco.mj_inverse(model, data)
            found[row] = data.qfrc_inverse
        return found[:, self._dofs]
