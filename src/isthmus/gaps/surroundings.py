"""Gaps in what a robot moves in: gravity, and what it touches."""

import mujoco
import numpy as np

from isthmus.gaps.kind import GapKind, factor


def _across_gravity(model: mujoco.MjModel) -> bool:
    """Whether every joint moves in the horizontal plane, where gravity does no work."""
    magnitude = np.linalg.norm(model.opt.gravity)
    if magnitude == 0:
        return True
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    along = np.abs(data.xaxis @ model.opt.gravity / magnitude)  # (njnt,)
    hinge = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    slide = model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    return bool(((hinge & (along > 1 - 1e-6)) | (slide & (along < 1e-6))).all())


def _not_to_be_tilted(model: mujoco.MjModel, _body: str) -> str | None:
    if not model.opt.gravity.any():
        return "there is no gravity to turn"
    return None if _across_gravity(model) else "it moves out of the horizontal plane"


def _tilt(model: mujoco.MjModel, degrees: float, _body: str) -> None:
    """Rotate gravity into the plane of the robot, toward its -y."""
    angle = np.deg2rad(degrees)
    magnitude = np.linalg.norm(model.opt.gravity)
    model.opt.gravity[:] = magnitude * np.array([0.0, -np.sin(angle), -np.cos(angle)])


def _out_of_gravitys_reach(model: mujoco.MjModel, _body: str) -> str | None:
    return "it moves across gravity, which does no work on it: tilt it too" if _across_gravity(model) else None


def _gravity(model: mujoco.MjModel, factor: float, _body: str) -> None:
    model.opt.gravity[:] *= factor


def _touches_nothing(model: mujoco.MjModel, _body: str) -> str | None:
    meet = (model.geom_contype[:, None] & model.geom_conaffinity) != 0  # (ngeom, ngeom)
    apart = model.body_weldid[model.geom_bodyid][:, None] != model.body_weldid[model.geom_bodyid]
    rubs = np.maximum(model.geom_condim[:, None], model.geom_condim) > 1
    if (meet & apart & rubs).any() or (model.pair_dim > 1).any():
        return None
    return "nothing it touches has friction"


def _contact_friction(model: mujoco.MjModel, factor: float, _body: str) -> None:
    """Sliding friction of every geom: a contact has the larger of two, which scales alike."""
    model.geom_friction[:, 0] *= factor
    model.pair_friction[:, :2] *= factor


SURROUNDINGS = (
    GapKind(
        "tilt",
        "the horizontal plane a robot moves in is tilted, so that gravity pulls on its joints",
        *("model", "degrees", 0.0, 90.0, 0.0, 90.0),
        misfit=_not_to_be_tilted,
        apply=_tilt,
    ),
    factor("gravity", "the magnitude of gravity", (0.0, 3.0), 1.2, _out_of_gravitys_reach, _gravity),
    factor(
        "contact-friction", "sliding friction of all contacts", (0.05, 5.0), 0.5, _touches_nothing, _contact_friction
    ),
)
"""A plane is tilted before it is asked what gravity does to a robot in it."""
