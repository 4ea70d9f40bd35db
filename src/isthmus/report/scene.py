"""Pictures of a robot in a given pose, drawn off-screen."""

import copy
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float
from isthmus.report.cord import Cord, Tie

Picture = NDArray[np.uint8]
SAMPLES = 4
"""Multisampling: more is smoother and slower."""
LEAST_ANGLE = 1.0
"""Degrees by which gravity must turn to be worth an arrow."""
ARROW_COLOUR = (0.98, 0.80, 0.10, 1.0)
CORD_COLOUR = (0.90, 0.30, 0.10, 1.0)
CORD_RADIUS = 0.008


def gravity_angle(source: mujoco.MjModel, target: mujoco.MjModel) -> float:
    """Degrees between the directions of gravity in two models; 0 when either has none."""
    ours, theirs = np.asarray(source.opt.gravity), np.asarray(target.opt.gravity)
    size = float(np.linalg.norm(ours) * np.linalg.norm(theirs))
    if size == 0:
        return 0.0
    return float(np.degrees(np.arccos(np.clip(ours @ theirs / size, -1.0, 1.0))))


class NothingToDrawWith(Exception):  # noqa: N818 - a condition of the machine
    """No drawing context could be opened."""


class Scene:
    """One model as seen by a camera; an arrow shows gravity where it is turned against that of `source`."""

    def __init__(
        self,
        model: mujoco.MjModel,
        camera: Mapping[str, tuple[float, ...]],
        size: int,
        *,
        source: mujoco.MjModel,
        cord: Cord | None = None,
    ) -> None:
        """Open a drawing context; raises `NothingToDrawWith` where there is none."""
        self._renderer: mujoco.Renderer | None = None
        model = _lit(model)
        self._model, self._data = model, mujoco.MjData(model)
        self._camera = _camera(camera)
        self._lookat = np.array(camera["lookat"], np.float64)
        self._arrow = self._gravity_arrow(source)
        self._follows = _travels(model)
        self._cord = cord
        try:
            self._renderer = mujoco.Renderer(model, size, size)
        except Exception as error:  # each way of drawing fails in its own manner
            raise NothingToDrawWith(f"{type(error).__name__}: {error}") from error
        for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
            self._renderer.scene.flags[flag] = 0

    def close(self) -> None:
        """Give the drawing context back."""
        if self._renderer:
            self._renderer.close()

    def picture(self, qpos: Float) -> Picture:
        """The robot at `qpos` (nq,), as (size, size, 3)."""
        if self._renderer is None:
            raise ValueError("the scene is closed")
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        centre = self._lookat.copy()
        if self._follows:
            centre[:2] += self._data.subtree_com[1, :2]
        self._camera.lookat[:] = centre
        self._renderer.update_scene(self._data, self._camera)
        if self._arrow is not None:
            _add_arrow(self._renderer.scene, centre + self._arrow[0], centre + self._arrow[1])
        if self._cord is not None:
            begin, end = (self._tied_at(tie) for tie in self._cord)
            _add_line(self._renderer.scene, mujoco.mjtGeom.mjGEOM_CAPSULE, CORD_COLOUR, CORD_RADIUS, begin, end)
        return self._renderer.render()

    def _tied_at(self, tie: Tie) -> Float:
        body = self._data.body(tie.body)
        return body.xpos + body.xmat.reshape(3, 3) @ np.array(tie.point)

    def _gravity_arrow(self, source: mujoco.MjModel) -> tuple[Float, Float] | None:
        """Ends of an arrow, from the camera's point of view, for gravity that is turned across the picture."""
        if gravity_angle(source, self._model) < LEAST_ANGLE:
            return None
        right, up, toward = _axes(self._camera)
        gravity = np.asarray(self._model.opt.gravity)
        across = gravity - toward * (gravity @ toward)
        share = np.linalg.norm(across) / np.linalg.norm(gravity)
        if share < np.sin(np.radians(LEAST_ANGLE)):
            return None
        distance = float(self._camera.distance)
        length = distance * (0.05 + 0.15 * share)
        # In a corner of the picture, and a little above what the camera looks at.
        middle = distance * (-0.26 * right + 0.20 * up + 0.08 * toward)
        half = length / 2 * across / np.linalg.norm(across)
        return middle - half, middle + half


def _lit(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy that is bright, and quick to draw."""
    changed = copy.copy(model)
    changed.vis.quality.offsamples = SAMPLES
    changed.vis.headlight.ambient[:] = 0.35
    changed.vis.headlight.diffuse[:] = 0.55
    changed.vis.headlight.specular[:] = 0.1
    return changed


def _camera(placed: Mapping[str, tuple[float, ...]]) -> mujoco.MjvCamera:
    camera = mujoco.MjvCamera()
    camera.lookat[:] = placed["lookat"]
    camera.distance = placed["distance"][0]
    camera.azimuth = placed["azimuth"][0]
    camera.elevation = placed["elevation"][0]
    return camera


def _axes(camera: mujoco.MjvCamera) -> tuple[Float, Float, Float]:
    """Right, up and toward the viewer, in the picture of a free camera."""
    azimuth, elevation = np.radians(float(camera.azimuth)), np.radians(float(camera.elevation))
    forward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
    return right, np.cross(right, forward), -forward


def _travels(model: mujoco.MjModel) -> bool:
    """Whether the robot as a whole moves about, so that the camera has to go with it."""
    if model.nbody < 2 or not model.body_jntnum[1]:
        return False
    kind = int(model.jnt_type[model.body_jntadr[1]])
    return kind in (mujoco.mjtJoint.mjJNT_FREE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)


def _add_arrow(scene: mujoco.MjvScene, tail: Float, tip: Float) -> None:
    _add_line(scene, mujoco.mjtGeom.mjGEOM_ARROW, ARROW_COLOUR, 0.08 * float(np.linalg.norm(tip - tail)), tail, tip)


def _add_line(
    scene: mujoco.MjvScene,
    shape: mujoco.mjtGeom,
    colour: tuple[float, float, float, float],
    width: float,
    begin: Float,
    end: Float,
) -> None:
    if scene.ngeom >= scene.maxgeom:
        return
    geom = scene.geoms[scene.ngeom]
    nothing = np.zeros(3)
    mujoco.mjv_initGeom(geom, shape.value, nothing, nothing, np.eye(3).ravel(), np.array(colour, np.float32))
    mujoco.mjv_connector(geom, shape.value, width, begin, end)
    geom.emission = 0.5
    scene.ngeom += 1
