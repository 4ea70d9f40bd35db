"""Every kind of gap: its unit, its range, which robots it fits, and the physics it changes."""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np


@dataclass(frozen=True)
class GapKind:
    """One dial."""

    name: str
    summary: str
    unit: str
    low: float
    high: float
    neutral: float
    """The value at which there is no gap."""
    misfit: Callable[[mujoco.MjModel], str | None]
    """Why a model cannot have this gap, or None when it can."""
    apply: Callable[[mujoco.MjModel, float], None]
    """Change a model in place."""


def _not_in_a_horizontal_plane(model: mujoco.MjModel) -> str | None:
    """Tilting is about robots that gravity does not reach: every joint moves across it."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    up = -model.opt.gravity / np.linalg.norm(model.opt.gravity)
    along = np.abs(data.xaxis @ up)  # (njnt,)
    hinge = model.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
    slide = model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    planar = (hinge & (along > 1 - 1e-6)) | (slide & (along < 1e-6))
    return None if planar.all() else "it moves out of the horizontal plane"


def _tilt(model: mujoco.MjModel, degrees: float) -> None:
    """Rotate gravity into the plane of the robot, toward its -y."""
    angle = np.deg2rad(degrees)
    magnitude = np.linalg.norm(model.opt.gravity)
    model.opt.gravity[:] = magnitude * np.array([0.0, -np.sin(angle), -np.cos(angle)])


KINDS = {
    kind.name: kind
    for kind in (
        GapKind(
            name="tilt",
            summary="the horizontal plane a robot moves in is tilted, so that gravity pulls on its joints",
            unit="degrees",
            low=0.0,
            high=90.0,
            neutral=0.0,
            misfit=_not_in_a_horizontal_plane,
            apply=_tilt,
        ),
    )
}
