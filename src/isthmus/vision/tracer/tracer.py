"""Render a drawn scene with Mitsuba 3: area lights, depth of field, interreflection, and a sensor with noise."""

import importlib
import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from isthmus.core import Float, Problem
from isthmus.vision.camera import Camera
from isthmus.vision.pixels import Image
from isthmus.vision.stage.build import Stage, geom_solid
from isthmus.vision.stage.scene import visible
from isthmus.vision.stage.solids import Solid
from isthmus.vision.tracer.materials import make_albedo

VARIANTS = ("llvm_ad_rgb", "scalar_rgb")
"""Mitsuba's own, best first: the first needs LLVM 16 or newer as a shared library."""
LIBRARIES = ("libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-18.so.1", "libLLVM-17.so.1", "libLLVM-16.so.1")
DEPTH = 5
"""How often a ray is reflected, at most."""
OF_TABLE = ("wood", "wood", "laminate", "cloth", "stone")
OF_THINGS = ("paint", "paint", "paint", "wood", "cloth", "stone", "laminate")
OF_ROOM = ("paint", "laminate", "wood", "stone")
SMALL, LARGE = 0.08, 0.6
"""Edge of a material's picture in metres, on what lies on the table and on everything else."""
METAL = 0.08
"""Share of things that are of metal."""


FOLDERS = tuple(Path("/usr/lib") / name for name in ("x86_64-linux-gnu", "aarch64-linux-gnu", ""))
"""Where LLVM is looked for."""


def open_mitsuba() -> Any:  # noqa: ANN401
    """Mitsuba in its fastest variant that works here."""
    if "DRJIT_LIBLLVM_PATH" not in os.environ:
        found = next((folder / name for name in LIBRARIES for folder in FOLDERS if (folder / name).exists()), None)
        os.environ["DRJIT_LIBLLVM_PATH"] = str(found or "none")
    try:
        mitsuba = importlib.import_module("mitsuba")
    except ImportError as error:
        raise Problem("the path tracer is Mitsuba 3, which is not installed: pip install 'isthmus[vision]'") from error
    wanted = VARIANTS if os.environ["DRJIT_LIBLLVM_PATH"] != "none" else VARIANTS[1:]
    for variant in wanted:
        try:
            mitsuba.set_variant(variant)
        except ImportError:  # no LLVM, or one that is too old
            continue
        return mitsuba
    raise Problem(f"Mitsuba has none of the variants {', '.join(VARIANTS)} on this machine")


class Tracer:
    """Renders what a stage shows."""

    def __init__(self, samples: int) -> None:
        """Trace `samples` rays a pixel."""
        self._mi = open_mitsuba()
        self.samples = samples

    @property
    def variant(self) -> str:
        """Mitsuba's variant in use."""
        return str(self._mi.variant())

    def render(self, stage: Stage, camera: Camera, rng: np.random.Generator) -> Image:
        """A picture of the stage as it was last drawn, with materials, lights and a lens at random."""
        scene: dict[str, Any] = {"type": "scene", "integrator": {"type": "path", "max_depth": DEPTH}}
        drawn = {*stage.distractors.tolist()}
        for geom in range(stage.model.ngeom):
            surface = geom_solid(stage.model, stage.data, geom)
            if surface is None or not visible(stage.model, geom):
                continue
            on_table = geom in drawn or geom in stage.target_geoms
            name = stage.model.geom(geom).name
            kinds = OF_TABLE if name == stage.scene.table.geom else OF_THINGS if on_table else OF_ROOM
            scene[f"geom{geom}"] = self._mesh(
                f"geom{geom}", surface, self._material(str(rng.choice(kinds)), rng, on_table=on_table),
                SMALL if on_table else LARGE,
            )  # fmt: skip
        scene["sensor"] = self._sensor(stage, camera, rng)
        scene |= self._lights(stage.scene.table.centre, rng)
        seed = int(rng.integers(1 << 30))
        film = np.array(self._mi.render(self._mi.load_dict(scene), seed=seed, spp=self.samples))[..., :3]
        return develop(film, rng)

    def _material(self, kind: str, rng: np.random.Generator, *, on_table: bool) -> dict[str, Any]:
        picture = self._mi.Bitmap(make_albedo(kind, rng))
        return {
            "type": "twosided",
            "inner": {
                "type": "principled",
                "base_color": {"type": "bitmap", "bitmap": picture, "raw": True, "wrap_mode": "mirror"},
                "roughness": float(rng.uniform(0.08, 0.8)),
                "specular": float(rng.uniform(0.2, 0.7)),
                "metallic": float(rng.random() < METAL and on_table),
            },
        }

    def _mesh(self, name: str, solid: Solid, material: dict[str, Any], edge: float) -> Any:  # noqa: ANN401
        """A mesh whose faces are flat, and whose material is projected along the nearest axis."""
        corners = solid.vertices[solid.faces]  # (f, 3, 3)
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        axis = np.abs(normals).argmax(axis=1)
        kept = np.array([[1, 2], [0, 2], [0, 1]])[axis]  # (f, 2)
        plane = np.take_along_axis(corners, kept[:, None, :].repeat(3, axis=1), axis=2) / edge
        properties = self._mi.Properties()
        properties["mesh_bsdf"] = self._mi.load_dict(material)
        mesh = self._mi.Mesh(name, 3 * len(corners), len(corners), properties, has_vertex_texcoords=True)
        values = self._mi.traverse(mesh)
        values["vertex_positions"] = corners.astype(np.float32).ravel()
        values["faces"] = np.arange(3 * len(corners), dtype=np.uint32)
        values["vertex_texcoords"] = plane.astype(np.float32).ravel()
        values.update()
        return mesh

    def _sensor(self, stage: Stage, camera: Camera, rng: np.random.Generator) -> dict[str, Any]:
        at, (_, up, backward) = np.asarray(camera.position), camera.rotation.T
        distance = float(np.linalg.norm(at - stage.scene.table.centre))
        transform = self._mi.ScalarTransform4f()
        return {
            "type": "thinlens",
            "fov": camera.fovy,
            "fov_axis": "y",
            "aperture_radius": float(rng.uniform(0.001, 0.006)),
            "focus_distance": distance * float(rng.uniform(0.9, 1.1)),
            "to_world": transform.look_at(origin=at.tolist(), target=(at - backward).tolist(), up=up.tolist()),
            "film": {"type": "hdrfilm", "width": camera.width, "height": camera.height, "rfilter": {"type": "box"}},
            "sampler": {"type": "independent"},
        }

    def _lights(self, centre: Float, rng: np.random.Generator) -> dict[str, Any]:
        """One to three square lights above the table, and light from everywhere."""
        lights: dict[str, Any] = {}
        for number in range(int(rng.integers(1, 4))):
            at = centre + rng.uniform([-1.2, -1.2, 1.1], [1.0, 1.2, 1.7])
            toward = centre + np.append(rng.uniform(-0.3, 0.3, 2), 0)
            width = rng.uniform(0.1, 0.45)
            colour = rng.uniform(2, 14) / width / 4 * np.array([1, rng.uniform(0.8, 1), rng.uniform(0.6, 1)])
            transform = self._mi.ScalarTransform4f
            lights[f"light{number}"] = {
                "type": "rectangle",
                "to_world": transform().look_at(origin=at.tolist(), target=toward.tolist(), up=[1, 0, 0])
                @ transform().scale([width, width * rng.uniform(0.4, 1), 1]),
                "emitter": {"type": "area", "radiance": {"type": "rgb", "value": colour.tolist()}},
            }
        sky = [float(rng.uniform(0.1, 0.7))] * 3
        lights["sky"] = {"type": "constant", "radiance": {"type": "rgb", "value": sky}}
        return lights


def develop(film: Float, rng: np.random.Generator) -> Image:
    """From light on the sensor (h, w, 3) to a picture: exposure, white balance, noise, gamma and noise reduction.

    The noise of the path tracer goes with that of the sensor: like a camera, this smooths what of it is strong.
    """
    bright = np.percentile(film.mean(axis=-1), rng.uniform(80, 97))
    balance = np.array([rng.uniform(0.9, 1.1), 1, rng.uniform(0.9, 1.1)])
    light = film / max(float(bright), 1e-6) * rng.uniform(0.55, 0.95) * balance
    light = light + rng.standard_normal(light.shape) * np.sqrt(1e-4 * np.clip(light, 0, 1) + 2e-5)
    curved = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.clip(light, 1e-8, None) ** (1 / 2.4) - 0.055)
    picture = (np.clip(curved, 0, 1) * 255).astype(np.uint8)
    return np.asarray(cv2.fastNlMeansDenoisingColored(picture, None, 8, 10, 5, 13), np.uint8)
