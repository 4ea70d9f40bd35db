"""The physical quantities that a model has, whatever robot it is.

The actuators' strengths are compared with one another only. Twice the strength with twice the mass, armature, damping,
stiffness and friction makes the same motion: no recording of motion tells which it is.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from isthmus.core import Float, Int
from isthmus.sim.anatomy import actuated_dofs, in_robot

TOGETHER = 1.0
"""How far a quantity may well be off in all its parts alike, as a logarithm: a heavier robot is heavier everywhere."""
APART = 0.1
"""How far each part may well be off by itself."""
RATIO = "of its own"
"""The unit of what the simulator has 1 of."""
FARTHEST = 6.0
"""Nothing is looked for so many prior deviations away."""


Put = Callable[[mujoco.MjModel, Float], None]
Get = Callable[[mujoco.MjModel], Float]


@dataclass(frozen=True)
class ParameterGroup:
    """Values, and a Gaussian prior about the simulator's own: they are `values` at z = 0, and z is standard normal."""

    name: str
    unit: str
    parts: tuple[str, ...]
    values: Float
    """The simulator's own (parts,)."""
    root: Float
    """A root of the prior covariance (parts, k)."""
    put: Put
    """Write values (parts,) into a model."""
    get: Get
    """Read them (parts,) from a model of the same robot."""
    step: Float | None = None
    """What is added is counted in these (parts,); None for a factor, which is counted as a logarithm."""
    low: float = -FARTHEST
    torque: bool = True
    """Whether it is a torque, or what a torque has to overcome: of these only ratios can be identified."""
    vector: bool = False
    """Whether the parts are components of one vector, and add up to nothing."""

    @staticmethod
    def factor(name: str, unit: str, parts: tuple[str, ...], values: Float, put: Put, get: Get) -> "ParameterGroup":
        """Values that are off by a factor: one for all parts, and another for each."""
        shared, own = TOGETHER * np.ones((len(parts), 1)), APART * np.eye(len(parts))
        return ParameterGroup(name, unit, parts, values, np.hstack((shared, own)), put, get)

    @property
    def size(self) -> int:
        """How many numbers z has."""
        return self.root.shape[1]

    def at(self, z: Float) -> Float:
        """The values (parts,) at z (k,)."""
        off = self.root @ z
        return self.values * np.exp(off) if self.step is None else self.values + self.step * off


GRAVITY_STD = 0.3
"""Of each component, in the magnitude of gravity: the robot may stand on a slope too."""
STANDARD_GRAVITY = 9.81
FRICTION_SHARE = 0.1
"""Dry friction is counted in this share of the largest torque at a joint."""
GRIP_STD = 0.5
"""Of the sliding friction of contacts, as a logarithm."""
SEVERAL_DOFS = (mujoco.mjtJoint.mjJNT_FREE.value, mujoco.mjtJoint.mjJNT_BALL.value)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def parameter_groups(model: mujoco.MjModel) -> tuple[ParameterGroup, ...]:
    """What can be off: gravity, masses, the joints' passive torques, the actuators, and the grip of contacts."""
    found = (
        _gravity(model),
        _mass(model),
        *_passive(model),
        _dry_friction(model),
        _strength(model),
        _contact_friction(model),
    )
    return tuple(group for group in found if group.parts and group.size)


def _gravity(model: mujoco.MjModel) -> ParameterGroup:
    def put(changed: mujoco.MjModel, values: Float) -> None:
        changed.opt.gravity[:] = values

    magnitude = float(np.linalg.norm(model.opt.gravity)) or STANDARD_GRAVITY
    return ParameterGroup(
        "gravity",
        "m/s2",
        ("x", "y", "z"),
        model.opt.gravity.copy(),
        GRAVITY_STD * np.eye(3),
        put,
        lambda changed: changed.opt.gravity.copy(),
        step=np.full(3, magnitude),
        torque=False,
        vector=True,
    )


def _mass(model: mujoco.MjModel) -> ParameterGroup:
    bodies = np.flatnonzero(in_robot(model) & (model.body_mass > 0))
    mass, inertia = model.body_mass[bodies].copy(), model.body_inertia[bodies].copy()

    def put(changed: mujoco.MjModel, values: Float) -> None:
        changed.body_mass[bodies] = values
        changed.body_inertia[bodies] = inertia * (values / mass)[:, None]

    def get(changed: mujoco.MjModel) -> Float:
        return changed.body_mass[bodies].copy()

    return ParameterGroup.factor("mass", "kg", _names(model.body, bodies), mass, put, get)


def _passive(model: mujoco.MjModel) -> list[ParameterGroup]:
    """What the actuated joints have of damping, armature and stiffness; those that have none get none."""
    dofs = actuated_dofs(model)
    joints = np.unique(model.dof_jntid[dofs]).astype(np.int64)
    return [
        _had(model, "damping", "N m s", "dof_damping", dofs, _dof_names(model, dofs)),
        _had(model, "armature", "kg m2", "dof_armature", dofs, _dof_names(model, dofs)),
        _had(model, "stiffness", "N m", "jnt_stiffness", joints, _names(model.joint, joints)),
    ]


def _had(model: mujoco.MjModel, name: str, unit: str, field: str, rows: Int, names: tuple[str, ...]) -> ParameterGroup:
    """The part of `field` in `rows` that is not zero, by factors."""
    values: Float = getattr(model, field)[rows].copy()
    has = values > 0
    rows, values = rows[has], values[has]

    def put(changed: mujoco.MjModel, to: Float) -> None:
        getattr(changed, field)[rows] = to

    def get(changed: mujoco.MjModel) -> Float:
        return getattr(changed, field)[rows].copy()

    return ParameterGroup.factor(name, unit, tuple(itertools.compress(names, has)), values, put, get)


def _dry_friction(model: mujoco.MjModel) -> ParameterGroup:
    """Added, since a simulator has none as a rule; never less than none."""
    rows = actuated_dofs(model)
    values = model.dof_frictionloss[rows].copy()
    step = FRICTION_SHARE * _largest_torque(model)[rows]

    def put(changed: mujoco.MjModel, to: Float) -> None:
        changed.dof_frictionloss[rows] = to

    return ParameterGroup(
        "dry friction",
        "N m",
        _dof_names(model, rows),
        values,
        np.eye(len(rows)),
        put,
        lambda changed: changed.dof_frictionloss[rows].copy(),
        step=step,
        low=float(np.max(-values / step, initial=-np.inf)),
    )


def _largest_torque(model: mujoco.MjModel) -> Float:
    """What all actuators together do to each degree of freedom at the ends of their ranges (nv,); 1 where nothing."""
    data = mujoco.MjData(model)
    data.ctrl[:] = np.where(model.actuator_ctrllimited, model.actuator_ctrlrange[:, 1], 1.0)
    mujoco.mj_forward(model, data)
    torque = np.abs(data.qfrc_actuator)
    return np.where(torque > 0, torque, 1.0)


def _strength(model: mujoco.MjModel) -> ParameterGroup:
    """The strength of actuators beside one another: a force limit goes with it."""
    gain, bias = model.actuator_gainprm.copy(), model.actuator_biasprm.copy()
    limit = model.actuator_forcerange.copy()

    def put(changed: mujoco.MjModel, factors: Float) -> None:
        changed.actuator_gainprm[:, :3] = gain[:, :3] * factors[:, None]
        changed.actuator_biasprm[:, :3] = bias[:, :3] * factors[:, None]
        changed.actuator_forcerange[:] = limit * factors[:, None]

    names = _names(model.actuator, np.arange(model.nu))
    beside = np.linalg.svd(np.eye(model.nu) - 1 / max(model.nu, 1))[0][:, : max(model.nu - 1, 0)]
    return ParameterGroup(
        "strength", RATIO, names, np.ones(model.nu), APART * beside, put, lambda changed: strength(model, changed)
    )


def strength(model: mujoco.MjModel, changed: mujoco.MjModel) -> Float:
    """How many times as strong each actuator of a changed model is (nu,)."""
    own, other = model.actuator_gainprm[:, 0], changed.actuator_gainprm[:, 0]
    return np.divide(other, own, out=np.ones(model.nu), where=own != 0)


def _contact_friction(model: mujoco.MjModel) -> ParameterGroup:
    """One factor for the sliding friction of all contacts; a robot that nothing can touch has none."""
    geoms, pairs = model.geom_friction[:, 0].copy(), model.pair_friction[:, :2].copy()

    def put(changed: mujoco.MjModel, factor: Float) -> None:
        changed.geom_friction[:, 0] = geoms * factor
        changed.pair_friction[:, :2] = pairs * factor

    meet = bool(((model.geom_contype[:, None] & model.geom_conaffinity) != 0).any() or model.npair)
    parts = ("all contacts",) if meet else ()
    ones, rubs = np.ones(len(parts)), geoms > 0

    def get(changed: mujoco.MjModel) -> Float:
        return ones * (changed.geom_friction[rubs, 0] / geoms[rubs]).mean()

    return ParameterGroup("contact friction", RATIO, parts, ones, GRIP_STD * np.diag(ones), put, get, torque=False)


def _names(view: Callable[[int], _Named], which: Int) -> tuple[str, ...]:
    """Names of what MuJoCo knows by number; the number where there is no name."""
    return tuple(view(int(one)).name or str(one) for one in which)


def _dof_names(model: mujoco.MjModel, dofs: Int) -> tuple[str, ...]:
    """Joints by name; where one has several degrees of freedom, with the number of each."""
    joints = model.dof_jntid[dofs].astype(np.int64)
    named = _names(model.joint, joints)
    within = dofs - model.jnt_dofadr[joints]
    several = np.isin(model.jnt_type[joints], SEVERAL_DOFS)
    return tuple(f"{name} {at}" if many else name for name, at, many in zip(named, within, several, strict=True))
