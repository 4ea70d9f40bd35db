"""Read a scene: an MJCF, the object that is looked for, the table that it lies on and the camera that looks at it."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, Problem, unknown_name
from isthmus.vision.camera import Camera
from isthmus.vision.stage.solids import Solid, join, solid_of_geom, symmetry

SCENES = Path(__file__).parents[1] / "scenes"
"""The scenes that ship."""
FLAT = 0.02
"""How far from the table's top something that lies on it may begin."""
PLANE = 0.5
"""Half the edge of the part of an endless plane that serves as a table."""


@dataclass(frozen=True)
class SceneFile:
    """Which scene, and what in it matters."""

    path: str
    """An MJCF file, or the name of a scene that ships."""
    target: str
    """Name of the body, or of its geom, that is looked for."""
    table: str | None = None
    """Name of the table's geom; found by its name when not given."""
    camera: str | None = None
    """Name of the camera; the first one when not given."""


@dataclass(frozen=True)
class Table:
    """The table's top: a rectangle at the height `z`."""

    geom: str
    low: tuple[float, float]
    high: tuple[float, float]
    z: float

    @property
    def centre(self) -> Float:
        """Middle of the table's top (3,)."""
        return np.array([(self.low[0] + self.high[0]) / 2, (self.low[1] + self.high[1]) / 2, self.z])

    @property
    def corners(self) -> Float:
        """Corners of the table's top (4, 3): low low, low high, high high, high low."""
        (x0, y0), (x1, y1) = self.low, self.high
        return np.array([[x0, y0, self.z], [x0, y1, self.z], [x1, y1, self.z], [x1, y0, self.z]])


@dataclass(frozen=True)
class Scene:
    """A scene that was read and found to make sense."""

    file: SceneFile
    spec: mujoco.MjSpec = field(repr=False)
    body: str
    """The target's body."""
    table: Table
    solid: Solid = field(repr=False)
    """The target's surface, in a frame whose origin is the middle of its box, as it rests in the file."""
    rest: Float
    """Where the body's origin is from the middle of its box (3,), as it rests in the file."""
    quaternion: Float
    """Orientation of the body as it rests in the file (4,)."""
    symmetry: int
    """How many yaws of a turn look the same; 0 for any."""
    camera_name: str
    loose: tuple[str, ...]
    """Other bodies on the table: they are left out, as distractors take their place."""

    @property
    def height(self) -> float:
        """Height of the middle of the target's box, in the world."""
        return self.table.z + float(self.solid.extents[2]) / 2

    @cached_property
    def radius(self) -> float:
        """Radius of the circle around the target, seen from above."""
        return float(np.max(np.linalg.norm(self.solid.vertices[:, :2], axis=1)))


def scene_path(name: str) -> Path:
    """The MJCF of a scene: a file, or one that ships."""
    path = Path(name)
    shipped = SCENES / f"{name}.xml"
    if path.suffix == "" and shipped.is_file():
        return shipped
    if not path.is_file():
        names = ", ".join(sorted(one.stem for one in SCENES.glob("*.xml")))
        raise Problem(f"there is no scene {name}: give an MJCF file, or one of those that ship ({names})")
    return path


def read_scene(file: SceneFile) -> Scene:
    """Read the scene, find object, table and camera in it, and check that the camera sees the table."""
    path = scene_path(file.path)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        model = spec.compile()
    except (ValueError, RuntimeError) as error:
        raise Problem(f"{path} is not a scene that MuJoCo can read ({error})") from error
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    body = _target(model, file.target, path)
    target = _surface(model, data, body)
    if target is None:
        raise Problem(f"{file.target!r} in {path} has no visible shape that could be seen")
    table = _table(model, data, file, target, path, body)
    low, high = target.vertices.min(axis=0), target.vertices.max(axis=0)
    middle = (low + high) / 2
    solid = Solid(target.vertices - middle, target.faces)
    scene = Scene(
        file, spec, model.body(body).name, table, solid, data.xpos[body] - middle, np.array(data.xquat[body]),
        symmetry(solid), _camera(model, file, path), _loose(model, data, body, table),
    )  # fmt: skip
    _check_seen(scene, scene_camera(scene, model, data, (640, 480)), path)
    return scene


def scene_camera(scene: Scene, model: mujoco.MjModel, data: mujoco.MjData, size: tuple[int, int]) -> Camera:
    """The scene's camera as it is in the file."""
    number = model.camera(scene.camera_name).id
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, data.cam_xmat[number])
    return Camera.from_fovy(data.cam_xpos[number], quaternion, float(model.cam_fovy[number]), size)


def _target(model: mujoco.MjModel, name: str, path: Path) -> int:
    bodies = {model.body(one).name: one for one in range(1, model.nbody)}
    geoms = {model.geom(one).name: int(model.geom_bodyid[one]) for one in range(model.ngeom)}
    found = bodies.get(name, geoms.get(name, 0) if name else 0)
    if found == 0:
        names = [one for one in bodies if one]
        if not names:
            raise Problem(f"{path} has no bodies with names: the object must be a body of its own, with a name")
        raise unknown_name(f"object in {path.name}", name, names)
    if model.body_parentid[found] != 0:
        raise Problem(f"{name!r} in {path} is part of another body: the object must stand in the worldbody by itself")
    return found


def _surface(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> Solid | None:
    """What is seen of a body and of all below it, in the world."""
    within = {body}
    for one in range(body + 1, model.nbody):
        if int(model.body_parentid[one]) in within:
            within.add(one)
    parts: list[Solid] = []
    for geom in range(model.ngeom):
        if int(model.geom_bodyid[geom]) in within and visible(model, geom):
            solid = solid_of_geom(model, geom)
            if solid is not None:
                parts.append(solid.moved(data.geom_xpos[geom], data.geom_xmat[geom]))
    return join(parts) if parts else None


def visible(model: mujoco.MjModel, geom: int) -> bool:
    """Whether a geom is drawn: it is not transparent, and of a group that MuJoCo draws by default."""
    alpha = model.geom_rgba[geom, 3]
    if model.geom_matid[geom] >= 0:
        alpha = min(alpha, model.mat_rgba[model.geom_matid[geom], 3])
    return bool(alpha > 0) and int(model.geom_group[geom]) < 3


def _table(model: mujoco.MjModel, data: mujoco.MjData, file: SceneFile, target: Solid, path: Path, body: int) -> Table:
    names = {model.geom(one).name: one for one in range(model.ngeom) if model.geom(one).name}
    if file.table is not None:
        if file.table not in names:
            raise unknown_name(f"table in {path.name}", file.table, names)
        candidates = [names[file.table]]
    else:
        of_table = [one for name, one in names.items() if "table" in name.lower()]
        of_body = [
            one
            for one in range(model.ngeom)
            if "table" in model.body(int(model.geom_bodyid[one])).name.lower() and one not in of_table
        ]
        candidates = of_table + of_body
    if candidates and all(model.geom_bodyid[one] == body for one in candidates):
        raise Problem(f"{file.target!r} in {path} is the table itself: --object names what lies on it")
    below = float(target.vertices[:, 2].min())
    tops = [(abs(table.z - below), table) for geom in candidates if (table := _top(model, data, geom)) is not None]
    if not tops:
        raise Problem(
            f"{path} has no table: name the geom that the object lies on with --table, or call it 'table' in the file"
        )
    return min(tops, key=lambda one: one[0])[1]


def _top(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Table | None:
    name = model.geom(geom).name or f"geom {geom}"
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
        x, y, z = (float(one) for one in data.geom_xpos[geom])
        a, b = (float(one) if one > 0 else PLANE for one in model.geom_size[geom, :2])
        return Table(name, (x - a, y - b), (x + a, y + b), z)
    solid = solid_of_geom(model, geom)
    if solid is None:
        return None
    at = solid.moved(data.geom_xpos[geom], data.geom_xmat[geom]).vertices
    (x0, y0, _), (x1, y1, z1) = (tuple(float(one) for one in end) for end in (at.min(axis=0), at.max(axis=0)))
    return Table(name, (x0, y0), (x1, y1), z1)


def _camera(model: mujoco.MjModel, file: SceneFile, path: Path) -> str:
    names = [model.camera(one).name for one in range(model.ncam)]
    if not names or not all(names):
        raise Problem(f"{path} has no camera with a name: add <camera name=... /> that looks at the table")
    if file.camera is None:
        return names[0]
    if file.camera not in names:
        raise unknown_name(f"camera in {path.name}", file.camera, names)
    return file.camera


def _loose(model: mujoco.MjModel, data: mujoco.MjData, target: int, table: Table) -> tuple[str, ...]:
    """Names of other bodies that lie on the table."""
    found: list[str] = []
    for body in range(1, model.nbody):
        if body == target or model.body_parentid[body] != 0 or not model.body(body).name:
            continue
        surface = _surface(model, data, body)
        if surface is None or abs(float(surface.vertices[:, 2].min()) - table.z) > FLAT:
            continue
        at = surface.vertices[:, :2].mean(axis=0)
        if np.all(at > table.low) and np.all(at < table.high):
            found.append(model.body(body).name)
    return tuple(found)


def _check_seen(scene: Scene, camera: Camera, path: Path) -> None:
    """Refuse a camera that sees nothing of where the object may lie."""
    x = np.linspace(scene.table.low[0], scene.table.high[0], 15)
    y = np.linspace(scene.table.low[1], scene.table.high[1], 15)
    grid = np.stack([*(one.ravel() for one in np.meshgrid(x, y)), np.full(225, scene.height)], axis=1)
    pixels = camera.project(grid)
    inside = np.all((pixels > 0) & (pixels < [camera.width, camera.height]), axis=1)
    if np.count_nonzero(inside) < 5:
        raise Problem(
            f"the camera {scene.camera_name!r} of {path} does not see {scene.file.target!r} anywhere on the table "
            f"{scene.table.geom!r}: point it there, or name another one with --camera"
        )
