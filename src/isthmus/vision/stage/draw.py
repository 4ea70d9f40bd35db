"""Draw one image's scene: everything random is written into the stage's model in place.

What is drawn depends on the seed and the image's number only, so that any process can make any image.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Problem
from isthmus.core.random import stream_seed
from isthmus.vision.camera import Camera
from isthmus.vision.randomise import MOST_DISTRACTORS, MOST_LIGHTS, Randomise
from isthmus.vision.stage.build import Stage
from isthmus.vision.stage.place import Placed, place_distractors

CONDITIONS = ("alone", "distractors", "occluded")
ANY = "any"
BEYOND = 0.05
"""How far out of the picture the target's centre may be, as a share of the picture's width."""
TRIES = 200
SETTINGS = 8
"""Numbers that a light has besides its place and colour."""


@dataclass(frozen=True)
class Drawn:
    """What an image shows, for labels."""

    camera: Camera
    """At full resolution."""
    position: Float
    """Middle of the target (3,)."""
    pixel: Float
    """Where the middle of the target is in the picture at full resolution (2,)."""
    yaw: float
    """Of the target, in the world."""
    distractors: Float
    """Middles of the distractors (n, 3)."""


def generator(seed: int, index: int, purpose: str = "image") -> np.random.Generator:
    """The random numbers of one image: an own part of one long sequence, so that making it costs little."""
    return np.random.Generator(np.random.Philox(key=stream_seed(seed, "vision", purpose), counter=index << 128))


def draw(
    stage: Stage,
    randomise: Randomise,
    rng: np.random.Generator,
    condition: str = ANY,
    place: tuple[float, float] | None = None,
) -> Drawn:
    """Put target, distractors, camera, lights and looks at random; returns what there is to see.

    With a `place` on the table the target is there, whether the camera sees it or not.
    """
    camera, position, pixel = _camera_and_target(stage, randomise, rng)
    if place is not None:
        position = np.array([*place, stage.scene.height])
        pixel = camera.project(position)[0]
    yaw = float(rng.uniform(-np.pi, np.pi))
    _place_target(stage, position, yaw)
    count = _how_many(randomise, rng, condition)
    hides = condition == "occluded" or (condition == ANY and count > 0 and rng.random() < randomise.occluded)
    placed = place_distractors(stage, randomise, rng, position, np.asarray(camera.position), count, hides=hides)
    _move_surroundings(stage, randomise, rng)
    _paint(stage, randomise, rng, placed)
    _light(stage, randomise, rng)
    _place_camera(stage, camera)
    mujoco.mj_kinematics(stage.model, stage.data)
    mujoco.mj_camlight(stage.model, stage.data)
    return Drawn(camera, position, pixel, yaw, np.array([one.position for one in placed]).reshape(-1, 3))


def _how_many(randomise: Randomise, rng: np.random.Generator, condition: str) -> int:
    share = float(rng.random())
    if condition == "alone":
        return 0
    count = randomise.distractors.whole(share)
    return count if condition == ANY else max(count, 1)


def _camera_and_target(stage: Stage, randomise: Randomise, rng: np.random.Generator) -> tuple[Camera, Float, Float]:
    """A camera, and a place for the target that it sees."""
    scene, size = stage.scene, np.array([stage.camera.width, stage.camera.height])
    margin = BEYOND * size[0]
    low, high = np.array(scene.table.low), np.array(scene.table.high)
    for _ in range(TRIES):
        camera = _camera(stage.camera, randomise, rng)
        position = np.array([*(low + (high - low) * rng.random(2)), scene.height])
        pixel = camera.project(position)[0]
        if np.all(pixel > -margin) and np.all(pixel < size + margin):
            return camera, position, pixel
    raise Problem("the camera hardly ever sees the object on the table: point it there, or move it less")


def _camera(camera: Camera, randomise: Randomise, rng: np.random.Generator) -> Camera:
    right_up_forward = rng.uniform(-0.5, 0.5, 3) * randomise.camera
    right, up, backward = camera.rotation.T
    at = camera.position + right_up_forward @ np.stack([right, up, -backward])
    axis = rng.standard_normal(3)
    turn, out = np.zeros(4), np.zeros(4)
    angle = randomise.camera_angle * rng.random() ** (1 / 3)
    mujoco.mju_axisAngle2Quat(turn, axis / np.linalg.norm(axis), angle)
    mujoco.mju_mulQuat(out, np.array(camera.quaternion), turn)
    fovy = camera.fovy * randomise.field_of_view.at(rng.random())
    return Camera.from_fovy(at, out, fovy, (camera.width, camera.height))


def _place_target(stage: Stage, position: Float, yaw: float) -> None:
    turn, out, shift = np.array([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]), np.zeros(4), np.zeros(3)
    mujoco.mju_mulQuat(out, turn, stage.scene.quaternion)
    mujoco.mju_rotVecQuat(shift, stage.scene.rest, turn)
    stage.model.body_pos[stage.target_body] = position + shift
    stage.model.body_quat[stage.target_body] = out


def _place_camera(stage: Stage, camera: Camera) -> None:
    """Only the field of view: place and direction are given to the renderer with the scene."""
    stage.model.cam_fovy[stage.camera_id] = camera.fovy


def _move_surroundings(stage: Stage, randomise: Randomise, rng: np.random.Generator) -> None:
    reach, model = randomise.surroundings, stage.model
    if len(stage.geoms):
        model.geom_pos[stage.geoms] = stage.geom_pos[stage.geoms] + rng.uniform(-reach, reach, (len(stage.geoms), 3))
    if len(stage.roots):
        model.body_pos[stage.roots] = stage.body_pos[stage.roots] + rng.uniform(-reach, reach, (len(stage.roots), 3))


def _paint(stage: Stage, randomise: Randomise, rng: np.random.Generator, placed: list[Placed]) -> None:
    model, painted = stage.model, stage.painted
    count = len(painted) + MOST_DISTRACTORS
    materials = stage.materials[rng.integers(0, len(stage.materials), count)]
    colours = _colours(rng, count)
    model.geom_matid[painted], model.geom_rgba[painted, :3] = materials[: len(painted)], colours[: len(painted)]
    if randomise.own_look:
        model.geom_matid[stage.target_geoms] = stage.geom_matid[stage.target_geoms]
        model.geom_rgba[stage.target_geoms] = stage.geom_rgba[stage.target_geoms]
    model.geom_matid[stage.distractors], model.geom_rgba[stage.distractors, :3] = (
        materials[len(painted) :], colours[len(painted) :],
    )  # fmt: skip
    model.geom_rgba[stage.distractors, 3] = 0.0
    first = int(stage.target_geoms[0])
    for one in placed:
        model.geom_rgba[one.geom, 3] = 1.0
        if one.same_colours:
            model.geom_matid[one.geom], model.geom_rgba[one.geom] = model.geom_matid[first], model.geom_rgba[first]


def _colours(rng: np.random.Generator, count: int) -> Float:
    """Factors on the textures' colours (count, 3): grey for some images, pale for some."""
    kind = rng.random(2)
    shades = rng.random((count, 3))
    if kind[0] < 0.3:
        shades[:] = shades[:, :1]
    colours = 0.3 + 0.7 * shades
    return np.minimum(1.0, 0.8 + 0.3 * colours) if kind[1] < 0.3 else colours


def _light(stage: Stage, randomise: Randomise, rng: np.random.Generator) -> None:
    model, n = stage.model, MOST_LIGHTS
    share = rng.random((n, 3 + 3 + 3 + SETTINGS))
    count = randomise.lights.whole(float(rng.random()))
    model.light_active[:] = np.arange(n) < count
    reach = randomise.light_reach
    at = stage.scene.table.centre + np.column_stack(
        [reach * (2 * share[:, 0:2] - 1), randomise.light_height.at(share[:, 2])]
    )
    toward = stage.scene.table.centre + 0.4 * (2 * share[:, 3:6] - 1) - at
    model.light_pos[:], model.light_dir[:] = at, toward / np.linalg.norm(toward, axis=1, keepdims=True)
    settings = share[:, 9:]
    model.light_cutoff[:], model.light_exponent[:] = 35 + 54 * settings[:, 0], 8 * settings[:, 1]
    tint = 1 - randomise.light_tint * share[:, 6:9]
    model.light_diffuse[:] = randomise.brightness.at(settings[:, 2:3]) * tint
    model.light_specular[:] = randomise.specular.at(settings[:, 3:4])
    model.light_ambient[:] = 0.2 * settings[:, 4:5]
    head = model.vis.headlight
    head.ambient[:] = randomise.ambient.at(settings[0, 5])
    head.diffuse[:], head.specular[:] = 0.5 * settings[0, 6], 0.5 * settings[0, 7]
