"""Put distractors onto the table: shapes that are not the target's, beside each other, some of them in front of it."""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Int
from isthmus.vision.randomise import Randomise
from isthmus.vision.stage.build import MeshShape, Stage
from isthmus.vision.stage.solids import looks_like

GEOM = mujoco.mjtGeom
SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = (
    int(one)
    for one in (
        GEOM.mjGEOM_SPHERE, GEOM.mjGEOM_CAPSULE, GEOM.mjGEOM_ELLIPSOID, GEOM.mjGEOM_CYLINDER, GEOM.mjGEOM_BOX,
        GEOM.mjGEOM_MESH,
    )
)  # fmt: skip
KINDS = (SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX)
FILLS = {SPHERE: np.pi / 6, CAPSULE: 0.7, ELLIPSOID: np.pi / 6, CYLINDER: np.pi / 4, BOX: 1.0}
"""Share of its box that a solid fills."""
OF_MESHES = 0.5
"""Share of distractors that are meshes of the bank."""
TRIES = 8
TALLEST_OF = 3
"""Shapes among which the one in front of the target is the tallest: seen from above, a low one hides nothing."""


@dataclass(frozen=True)
class Placed:
    """A distractor on the table."""

    geom: int
    position: Float
    """Its middle (3,)."""
    same_colours: bool
    """Whether it has the target's colours."""


@dataclass(frozen=True)
class _Shape:
    kind: int
    size: Float
    mesh: MeshShape | None
    hard: bool

    def radius(self) -> float:
        """Of a circle around it, seen from above, however it lies."""
        if self.mesh is not None:
            return self.mesh.solid.reach
        if self.kind == BOX:
            return math.hypot(self.size[0], self.size[1])
        return float(self.size[:2].max()) if self.kind == ELLIPSOID else float(self.size[0])

    def tall(self) -> float:
        """How high it is when it stands upright."""
        if self.mesh is not None:
            return float(self.mesh.solid.extents[2])
        return 2 * self.above(np.eye(3))

    def above(self, rotation: Float) -> float:
        """How high its origin is above the table when it is rotated (3, 3)."""
        down = rotation[2]
        if self.mesh is not None:
            return float(-np.min(self.mesh.solid.vertices @ down))
        size = self.size
        if self.kind == BOX:
            return float(np.abs(down) @ size)
        if self.kind == ELLIPSOID:
            return math.hypot(*(down * size))
        if self.kind == SPHERE:
            return float(size[0])
        if self.kind == CAPSULE:
            return float(size[0] + abs(down[2]) * size[1])
        return float(abs(down[2]) * size[1] + size[0] * np.sqrt(max(0.0, 1 - down[2] ** 2)))


def place_distractors(
    stage: Stage, randomise: Randomise, rng: np.random.Generator, target: Float, eye: Float, count: int, *, hides: bool
) -> list[Placed]:
    """Choose shapes and places for up to `count` distractors; with `hides` the first stands in front of the target."""
    placed: list[Placed] = []
    taken = [(target[0], target[1], stage.scene.radius)]
    low, high = np.array(stage.scene.table.low), np.array(stage.scene.table.high)
    for geom in stage.distractors[:count]:
        in_front = hides and not placed
        shape = _shape(stage, randomise, rng)
        if in_front:
            others = [_shape(stage, randomise, rng) for _ in range(TALLEST_OF - 1)]
            shape = max((shape, *others), key=_Shape.tall)
        radius = shape.radius()
        chances = rng.random((TRIES, 2))
        if in_front:
            at = _in_front(target, eye, stage.scene.radius, radius, chances[0])
        else:
            found = _free(low + (high - low) * chances, np.array(taken), radius)
            if found is None:
                continue
            at = found
        quaternion = _orientation(randomise, rng)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, quaternion)
        z = stage.scene.table.z + shape.above(rotation.reshape(3, 3))
        position = np.array([at[0], at[1], z])
        _put(stage.model, int(geom), shape, position, quaternion)
        taken.append((at[0], at[1], radius))
        placed.append(Placed(int(geom), position, shape.hard and bool(rng.random() < 0.6)))
    return placed


def _shape(stage: Stage, randomise: Randomise, rng: np.random.Generator) -> _Shape:
    hard, of_meshes, which = rng.random(3)
    if hard < randomise.hard and of_meshes < OF_MESHES and stage.copies:
        copy = stage.copies[int(which * len(stage.copies))]
        return _Shape(MESH, np.full(3, 0.04), copy, hard=True)
    if of_meshes < OF_MESHES:
        mesh = stage.meshes[int(which * len(stage.meshes))]
        return _Shape(MESH, np.full(3, 0.04), mesh, hard=False)
    kind = KINDS[int(which * len(KINDS))]
    size = randomise.distractor_size.at(rng.random(3))
    if looks_like(_extents(kind, size), FILLS[kind], stage.scene.solid):
        size = size * [0.45, 1.0, 1.0]
    return _Shape(kind, size, None, hard=hard < randomise.hard)


def _extents(kind: int, size: Float) -> Float:
    if kind in (BOX, ELLIPSOID):
        return 2 * size
    if kind == SPHERE:
        return np.full(3, 2 * size[0])
    half = size[1] + size[0] if kind == CAPSULE else size[1]
    return np.array([2 * size[0], 2 * size[0], 2 * half])


def _in_front(target: Float, eye: Float, own: float, other: float, chance: Float) -> Float:
    toward = eye[:2] - target[:2]
    toward = toward / np.linalg.norm(toward)
    across = np.array([-toward[1], toward[0]])
    return target[:2] + toward * (own + other) * (0.75 + 0.25 * chance[0]) + across * own * 1.4 * (chance[1] - 0.5)


def _free(chances: Float, taken: Float, radius: float) -> Float | None:
    """The first of places (n, 2) where a circle touches none that is taken (m, 3)."""
    apart = np.linalg.norm(chances[:, None] - taken[None, :, :2], axis=2) > taken[None, :, 2] + radius
    free: Int = np.flatnonzero(apart.all(axis=1))
    return chances[free[0]] if len(free) else None


def _orientation(randomise: Randomise, rng: np.random.Generator) -> Float:
    chance = rng.random(2)
    if chance[0] < randomise.tumbled:
        any_way = rng.standard_normal(4)
        return any_way / np.linalg.norm(any_way)
    return np.array([np.cos(np.pi * chance[1]), 0, 0, np.sin(np.pi * chance[1])])


def _put(model: mujoco.MjModel, geom: int, shape: _Shape, position: Float, quaternion: Float) -> None:
    model.geom_type[geom], model.geom_size[geom] = shape.kind, shape.size
    if shape.mesh is None:
        model.geom_dataid[geom] = -1
        model.geom_pos[geom], model.geom_quat[geom] = position, quaternion
        return
    model.geom_dataid[geom] = shape.mesh.mesh
    offset, turned = np.zeros(3), np.zeros(4)
    mujoco.mju_rotVecQuat(offset, shape.mesh.position, quaternion)
    mujoco.mju_mulQuat(turned, quaternion, shape.mesh.quaternion)
    model.geom_pos[geom], model.geom_quat[geom] = position + offset, turned
