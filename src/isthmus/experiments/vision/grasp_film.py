"""Film of grasps: the picture that the localiser saw, its answer in it, and beside it what the gripper does."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.io import write_whole
from isthmus.vision.grasp import AWAY, Gripper
from isthmus.vision.localiser.evaluate import Trial
from isthmus.vision.localiser.locate import Located
from isthmus.vision.pixels import Image
from isthmus.vision.renderer import open_context

FPS = 25
SIZE = (512, 384)
"""Width and height of each of both pictures, in pixels."""
LAST = 15
"""Frames for which the end of a grasp stays in sight."""
LOOK_AT = AWAY - (0.0, 0.0, 0.3)


class GraspFilm:
    """Collects poses while grasps are tried, and draws them afterwards."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._model: mujoco.MjModel | None = None
        self._trials: list[tuple[Image, list[Float]]] = []
        self._shown: Trial | None = None

    def watch(self, trial: Trial, located: Located, gripper: Gripper) -> None:
        """Take down the pose of the moment."""
        self._model = gripper.model
        if self._shown is not trial:
            self._shown = trial
            self._trials.append((_seen(trial.picture, located), []))
        self._trials[-1][1].append(np.array(gripper.data.qpos))

    def save(self, path: Path) -> None:
        """Write it as H.264."""
        try:
            import imageio_ffmpeg  # noqa: PLC0415 - of an extra
        except ModuleNotFoundError as error:
            raise Problem("a video needs imageio-ffmpeg: pip install 'isthmus[report]'") from error
        if self._model is None:
            raise Problem("there is nothing to film: no grasp was tried, as the localiser was never sure")
        with tempfile.TemporaryDirectory() as folder:  # the encoder writes a little at a time
            made = Path(folder) / "grasps.mp4"
            writer = imageio_ffmpeg.write_frames(
                made, (2 * SIZE[0], SIZE[1]), fps=FPS, codec="libx264", quality=None,
                output_params=["-crf", "26", "-movflags", "+faststart"],
            )  # fmt: skip
            writer.send(None)
            for picture in self._frames(self._model):
                writer.send(picture)
            writer.close()
            write_whole(path, made.read_bytes())

    def _frames(self, model: mujoco.MjModel) -> Iterator[Image]:
        data, eye = mujoco.MjData(model), mujoco.MjvCamera()
        eye.lookat[:], eye.distance, eye.azimuth, eye.elevation = LOOK_AT, 1.3, 132.0, -18.0
        model.vis.global_.offwidth, model.vis.global_.offheight = SIZE
        context = open_context(*SIZE)
        context.make_current()
        drawing = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, drawing)
        view, options, everything = mujoco.MjvScene(model, 10_000), mujoco.MjvOption(), mujoco.mjtCatBit.mjCAT_ALL
        rectangle, drawn = mujoco.MjrRect(0, 0, *SIZE), np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
        try:
            for seen, poses in self._trials:
                for qpos in [*poses, *[poses[-1]] * LAST]:
                    data.qpos[:] = qpos
                    mujoco.mj_forward(model, data)
                    mujoco.mjv_updateScene(model, data, options, None, eye, everything, view)
                    mujoco.mjr_render(rectangle, view, drawing)
                    mujoco.mjr_readPixels(drawn, None, rectangle, drawing)
                    yield np.ascontiguousarray(np.hstack([seen, drawn[::-1]]))
        finally:
            drawing.free()
            context.free()


def _seen(picture: Image, located: Located) -> Image:
    """The picture with a cross where the object is said to be."""
    marked = picture.copy()
    at = (int(located.pixel[0]), int(located.pixel[1]))
    for colour, width in (((0, 0, 0), 5), ((255, 255, 255), 2)):
        cv2.drawMarker(marked, at, colour, cv2.MARKER_CROSS, 36, width)
    return np.asarray(cv2.resize(marked, SIZE, interpolation=cv2.INTER_AREA), np.uint8)
