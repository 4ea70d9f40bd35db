"""Solids as triangles: their extents, how much of their box they fill, and the yaw at which they look the same."""

from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from scipy.spatial import ConvexHull, KDTree, QhullError

from isthmus.core import Float, Int

GEOM = mujoco.mjtGeom
AROUND, ALONG = 48, 12
"""Vertices around a round solid, and along a half circle of it."""
SYMMETRIES = (8, 6, 5, 4, 3, 2)
ROUND = 0
"""Symmetry of a solid that looks the same at any yaw."""
ALIKE_SIZE, ALIKE_FILL = 0.3, 0.12
"""Two solids look alike when their extents differ by less than this share, and their fill by less than this."""
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


@dataclass(frozen=True)
class Solid:
    """A closed surface of triangles."""

    vertices: Float  # (v, 3)
    faces: Int  # (f, 3)

    @cached_property
    def extents(self) -> Float:
        """Edges of its box, along its own axes (3,)."""
        return np.ptp(self.vertices, axis=0)

    @cached_property
    def fill(self) -> float:
        """Share of its box that its convex hull fills."""
        try:
            return float(ConvexHull(self.vertices).volume / max(np.prod(self.extents), 1e-12))
        except QhullError:  # flat
            return 0.0

    @cached_property
    def reach(self) -> float:
        """Radius of the ball about the middle of its box that holds the box."""
        return float(np.linalg.norm(self.extents)) / 2

    def moved(self, position: Float, rotation: Float) -> "Solid":
        """The solid after a rotation (3, 3) and a shift (3,)."""
        return Solid(self.vertices @ np.reshape(rotation, (3, 3)).T + position, self.faces)


def join(solids: list[Solid]) -> Solid:
    """Several solids as one."""
    offsets = np.cumsum([0, *(len(one.vertices) for one in solids)])
    faces = [one.faces + offset for one, offset in zip(solids, offsets, strict=False)]
    return Solid(np.concatenate([one.vertices for one in solids]), np.concatenate(faces))


def prism(sides: int, top: float = 1.0) -> Float:
    """Vertices (v, 3) of a prism of radius 1 and half height 1; `top` is the radius above, 0 for a pyramid or cone."""
    angles = np.arange(sides) * 2 * np.pi / sides
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    below = np.column_stack([ring, -np.ones(sides)])
    above = np.array([[0.0, 0.0, 1.0]]) if top == 0 else np.column_stack([top * ring, np.ones(sides)])
    return np.concatenate([below, above])


def solid_of_geom(model: mujoco.MjModel, geom: int) -> Solid | None:
    """The surface of a geom in its own frame; None for a plane or a height field."""
    if model.geom_type[geom] == GEOM.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        begin, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        return Solid(
            model.mesh_vert[first : first + count].astype(float), model.mesh_face[begin : begin + faces].astype(int)
        )
    return primitive(int(model.geom_type[geom]), np.asarray(model.geom_size[geom], float))


def primitive(kind: int, size: Float) -> Solid | None:
    """The surface of a box, sphere, ellipsoid, cylinder or capsule of MuJoCo's `size` (3,)."""
    if kind == GEOM.mjGEOM_BOX:
        return Solid(CORNERS * size, BOX_FACES)
    arc = np.linspace(-np.pi / 2, np.pi / 2, ALONG)
    if kind == GEOM.mjGEOM_CYLINDER:
        return _turned(np.array([0, size[0], size[0], 0]), np.array([-size[1], -size[1], size[1], size[1]]))
    if kind == GEOM.mjGEOM_CAPSULE:
        return _turned(size[0] * np.cos(arc), size[0] * np.sin(arc) + size[1] * np.sign(arc))
    if kind in (GEOM.mjGEOM_SPHERE, GEOM.mjGEOM_ELLIPSOID):
        ball = _turned(np.cos(arc), np.sin(arc))
        radii = size[0] if kind == GEOM.mjGEOM_SPHERE else size
        return Solid(ball.vertices * radii, ball.faces)
    return None


def _turned(radius: Float, height: Float) -> Solid:
    """The solid that a profile makes when it is turned about the z axis."""
    angles = np.arange(AROUND) * 2 * np.pi / AROUND
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(AROUND, z)])
        for r, z in zip(radius, height, strict=True)
    ]
    one = np.arange(AROUND)
    next_one = (one + 1) % AROUND
    faces: list[Int] = []
    for ring in range(len(radius) - 1):
        a, b = ring * AROUND + one, ring * AROUND + next_one
        faces += [np.stack([a, b, b + AROUND], axis=1), np.stack([a, b + AROUND, a + AROUND], axis=1)]
    return Solid(np.concatenate(rings), np.concatenate(faces))


def alike(one: Solid, other: Solid) -> bool:
    """Whether a person could take one for the other: about the same extents, and as much of their box filled."""
    return looks_like(one.extents, one.fill, other)


def looks_like(extents: Float, fill: float, other: Solid) -> bool:
    """Whether a solid of these extents (3,) and this fill could be taken for the other."""
    if abs(fill - other.fill) >= ALIKE_FILL:
        return False
    pairs = zip(sorted(extents), sorted(other.extents), strict=True)
    return all(abs(a - b) < ALIKE_SIZE * max(a, b) for a, b in pairs)


def symmetry(solid: Solid) -> int:
    """How many yaws within a turn look the same, seen from above; `ROUND` for a solid of revolution."""
    points = solid.vertices - [*solid.vertices.mean(axis=0)[:2], 0]
    tree, size = KDTree(points), float(np.linalg.norm(solid.extents[:2]))

    def same(turn: float, slack: float) -> bool:
        c, s = np.cos(turn), np.sin(turn)
        turned = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        return bool(np.max(np.asarray(tree.query(turned)[0], float)) < slack * size)

    if same(2 * np.pi / 24, 0.02):
        return ROUND
    return next((n for n in SYMMETRIES if same(2 * np.pi / n, 0.02)), 1)
