"""Render randomised images with MuJoCo: a whole picture at low resolution, and crops at full resolution."""

import os
from types import TracebackType
from typing import Any, ClassVar, Self

import cv2
import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image, Lens
from isthmus.vision.randomise import Randomise
from isthmus.vision.samples import Frame, Sample, sample_of
from isthmus.vision.stage.build import build_stage
from isthmus.vision.stage.draw import ANY, Drawn, draw, generator
from isthmus.vision.stage.scene import Scene, Table
from isthmus.vision.windows import RANGE, to_crop, windows_at

FLAG = mujoco.mjtRndFlag
NEVER = (FLAG.mjRND_REFLECTION, FLAG.mjRND_HAZE, FLAG.mjRND_SKYBOX, FLAG.mjRND_FOG)
MARGIN = 200
"""Geoms that a scene may have besides those of its model."""
OFF = 0.4
"""How far from the middle of a window things are, at most: in pixels of the full picture, for one of a crop's edge."""
OF_DISTRACTORS = 0.85
"""Share of crops without the target that show a distractor, if there are enough."""


class Renderer:
    """Makes any image of a scene by its number; one for each process, as it holds a graphics context."""

    _in_use: "ClassVar[Renderer | None]" = None

    def __init__(self, scene: Scene, randomise: Randomise, frame: Frame, *, samples: int = 0, seed: int = 0) -> None:
        """Open a graphics context; `samples` a pixel, 0 for one."""
        os.environ.setdefault("LP_NUM_THREADS", "0")  # llvmpipe: one process a core is faster than threads
        cv2.setNumThreads(1)  # and so it is for blur
        widest = int(RANGE * frame.crop)
        width, height = max(frame.coarse[0], widest), max(frame.coarse[1], widest)
        self.frame, self.seed, self._randomise = frame, seed, randomise
        self.stage = build_stage(scene, randomise, (width, height), samples, seed)
        self._lens = Lens(randomise)
        self._context = open_context(width, height)
        self._use()
        model = self.stage.model
        self._mjr = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._mjr)
        self._view = mujoco.MjvScene(model, maxgeom=model.ngeom + MARGIN)
        for flag in NEVER:
            self._view.flags[flag] = 0
        self._options = mujoco.MjvOption()
        self._eye = mujoco.MjvCamera()
        self._eye.type, self._eye.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self.stage.camera_id
        self._coarse = np.zeros((frame.coarse[1], frame.coarse[0], 3), np.uint8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the graphics context."""
        self._use()
        self._mjr.free()
        self._context.free()
        Renderer._in_use = None

    def _use(self) -> None:
        """Draw in this renderer's own graphics context: another one may have been made since."""
        if Renderer._in_use is not self:
            self._context.make_current()
            Renderer._in_use = self

    def sample(self, index: int, out: Sample, condition: str = ANY, place: tuple[float, float] | None = None) -> Drawn:
        """Make image number `index`, with the target at `place` if it is given; write pictures and labels to `out`."""
        rng = generator(self.seed, index, f"image {condition}")
        drawn = self.draw(rng, condition, place)
        look = self._lens.draw(rng)
        reduced = self.frame.coarse[0] < self.frame.full[0]
        self._lens.apply(look, self.picture(drawn.camera), rng, out["coarse"], reduced=reduced)
        windows = self._windows(drawn, rng)
        for number, window in enumerate(windows):
            seen = self.window(drawn.camera, window)
            self._lens.apply(look, seen, rng, seen)
            out["crops"][number] = to_crop(seen, self.frame.crop)
        sample_of(drawn, self.stage.scene, windows, out)
        return drawn

    def draw(self, rng: np.random.Generator, condition: str = ANY, place: tuple[float, float] | None = None) -> Drawn:
        """Draw a scene at random, without rendering it yet."""
        drawn = draw(self.stage, self._randomise, rng, condition, place)
        self._view.flags[FLAG.mjRND_SHADOW] = int(rng.random() < self._randomise.shadow)
        self._update(drawn.camera)
        return drawn

    def picture(self, camera: Camera) -> Image:
        """The whole picture at low resolution, as it was last drawn; valid until the next one."""
        width, height = self.frame.coarse
        self._look_through(camera, np.zeros(2), np.array([camera.width, camera.height], float))
        return self._render(self._coarse, width, height)

    def window(self, camera: Camera, window: Float) -> Image:
        """A window (3,) of the picture at full resolution, as it was last drawn."""
        edge = int(window[2])
        self._look_through(camera, window[:2], np.full(2, edge))
        return np.ascontiguousarray(self._render(np.empty((edge, edge, 3), np.uint8), edge, edge))

    def _windows(self, drawn: Drawn, rng: np.random.Generator) -> Float:
        scene, middles = self.stage.scene, crop_middles(self.frame, drawn, self.stage.scene.table, rng)
        return windows_at(drawn.camera, middles, scene.height, scene.radius, self.frame.crop)

    def target_pixels(self, camera: Camera, *, alone: bool) -> int:
        """How many pixels of the low-resolution picture show the target; `alone` leaves the distractors out."""
        stage, flags = self.stage, self._view.flags
        kept, alpha = flags.copy(), stage.model.geom_rgba[stage.distractors, 3].copy()
        if alone:
            stage.model.geom_rgba[stage.distractors, 3] = 0
            self._update(camera)
        flags[FLAG.mjRND_SEGMENT] = flags[FLAG.mjRND_IDCOLOR] = 1
        flags[FLAG.mjRND_SHADOW] = 0
        colours = self.picture(camera).astype(int)
        flags[:] = kept
        numbers = {
            self._view.geoms[one].segid + 1
            for one in range(self._view.ngeom)
            if self._view.geoms[one].objtype == mujoco.mjtObj.mjOBJ_GEOM
            and self._view.geoms[one].objid in stage.target_geoms
        }
        if alone:
            stage.model.geom_rgba[stage.distractors, 3] = alpha
            self._update(camera)
        return int(np.isin(colours @ [1, 256, 65536], list(numbers)).sum())

    def render_again(self, camera: Camera, windows: Float) -> None:
        """Render and read the pictures of the last image again: the floor that this renderer is measured against."""
        self.picture(camera)
        for window in windows:
            self.window(camera, window)

    def _update(self, camera: Camera) -> None:
        """Take over geometry and looks, and put the camera where it was drawn."""
        data, number = self.stage.data, self.stage.camera_id
        data.cam_xpos[number], data.cam_xmat[number] = camera.position, camera.rotation.ravel()
        mujoco.mjv_updateScene(
            self.stage.model, data, self._options, None, self._eye, mujoco.mjtCatBit.mjCAT_ALL, self._view
        )

    def _look_through(self, camera: Camera, corner: Float, size: Float) -> None:
        """Show the rectangle of the full picture that begins at `corner` (2,) and has a `size` (2,)."""
        for eye in self._view.camera:
            scale = eye.frustum_near / camera.focal
            left, top = (corner - camera.centre) * scale
            right, bottom = (corner + size - camera.centre) * scale
            eye.frustum_center, eye.frustum_width = (left + right) / 2, (right - left) / 2
            eye.frustum_top, eye.frustum_bottom = -top, -bottom

    def _render(self, out: Image, width: int, height: int) -> Image:
        self._use()
        rectangle = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rectangle, self._view, self._mjr)
        mujoco.mjr_readPixels(out, None, rectangle, self._mjr)
        return out[::-1]  # OpenGL's first row is the lowest


def crop_middles(frame: Frame, drawn: Drawn, table: Table, rng: np.random.Generator) -> Float:
    """Pixels (crops, 2) about which the second stage learns to look.

    The first crop has the target in it, off its middle as the first stage will be. Each other one shows another
    distractor, or any place of the table if there are not so many: what it must learn to refuse.
    """
    middles = np.empty((frame.crops, 2))
    if frame.crops:
        middles[0] = drawn.pixel + rng.uniform(-OFF, OFF, 2) * frame.crop
    others = drawn.camera.project(drawn.distractors) if len(drawn.distractors) else np.empty((0, 2))
    order = rng.permutation(len(others))
    for number in range(1, frame.crops):
        chance = rng.random(3)
        if number <= len(others) and chance[0] < OF_DISTRACTORS:
            middles[number] = others[order[number - 1]] + (2 * chance[1:] - 1) * OFF * frame.crop
        else:
            (x0, y0), (x1, y1) = table.low, table.high
            place = [x0 + (x1 - x0) * chance[1], y0 + (y1 - y0) * chance[2], table.z]
            middles[number] = np.nan_to_num(drawn.camera.project(np.array(place))[0])
    return middles


def open_context(width: int, height: int) -> Any:  # noqa: ANN401 - one of several backends without types
    """An off-screen graphics context: EGL unless MUJOCO_GL names another backend."""
    try:
        if os.environ.get("MUJOCO_GL", "egl").strip().lower() in ("", "egl"):
            from mujoco.egl import GLContext  # noqa: PLC0415 - fails to import where there is no EGL
        else:
            from mujoco.gl_context import GLContext  # noqa: PLC0415
        return GLContext(width, height)
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        raise Problem(
            f"nothing can be rendered on this machine ({error}): install EGL (libegl1, libgl1), or set MUJOCO_GL=osmesa"
        ) from error
