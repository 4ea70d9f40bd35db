"""Gaps in how a robot is built: its links, masses and joints."""

import mujoco

from isthmus.gaps.kind import GapKind, factor
from isthmus.gaps.links import not_to_be_stretched, stretch
from isthmus.sim.anatomy import actuated_dofs, bodies_of


def _settle(model: mujoco.MjModel) -> None:
    """Let the constants that MuJoCo derives from a model follow what was changed."""
    mujoco.mj_setConst(model, mujoco.MjData(model))


def _weightless(model: mujoco.MjModel, body: str) -> str | None:
    return None if model.body_mass[bodies_of(model, body)].any() else "it has no mass to change"


def _mass(model: mujoco.MjModel, factor: float, body: str) -> None:
    bodies = bodies_of(model, body)
    model.body_mass[bodies] *= factor
    model.body_inertia[bodies] *= factor
    _settle(model)


def _payload(model: mujoco.MjModel, kilograms: float, body: str) -> None:
    """A point mass at the centre of mass, which neither moves it nor adds inertia about it."""
    model.body_mass[bodies_of(model, body)] += kilograms
    _settle(model)


def _unactuated(model: mujoco.MjModel, _body: str) -> str | None:
    return None if actuated_dofs(model).size else "no actuator moves it"


def _joint_friction(model: mujoco.MjModel, torque: float, _body: str) -> None:
    model.dof_frictionloss[actuated_dofs(model)] += torque


def _undamped(model: mujoco.MjModel, _body: str) -> str | None:
    return None if model.dof_damping[actuated_dofs(model)].any() else "its joints have no damping"


def _damping(model: mujoco.MjModel, factor: float, _body: str) -> None:
    model.dof_damping[actuated_dofs(model)] *= factor


def _without_armature(model: mujoco.MjModel, _body: str) -> str | None:
    return None if model.dof_armature[actuated_dofs(model)].any() else "its joints have no armature"


def _armature(model: mujoco.MjModel, factor: float, _body: str) -> None:
    model.dof_armature[actuated_dofs(model)] *= factor
    _settle(model)


BUILD = (
    factor(
        "link-length",
        "a link is longer or shorter: its shape, its mass and inertia, and where all it carries is attached",
        *((0.5, 2.0), 1.1, not_to_be_stretched, stretch, "yes"),
    ),
    factor(
        "mass", "mass and inertia of the whole robot or of one body", (0.1, 10.0), 1.3, _weightless, _mass, "perhaps"
    ),
    GapKind(
        "payload",
        "a load that a body carries at its centre of mass",
        *("model", "kg", 0.0, 100.0, 0.0, 2.0),
        body="yes",
        misfit=_weightless,
        apply=_payload,
    ),
    GapKind(
        "joint-friction",
        "dry friction added to every actuated joint",
        *("model", "N m", 0.0, 100.0, 0.0, 2.0),
        misfit=_unactuated,
        apply=_joint_friction,
    ),
    factor("damping", "viscous friction of the actuated joints", (0.0, 3.0), 2.0, _undamped, _damping),
    factor(
        "armature",
        "inertia of the motors, as it is felt at the actuated joints",
        *((0.2, 5.0), 1.5, _without_armature, _armature),
    ),
)
"""A link is stretched before it is loaded: what it carries does not grow with it."""
