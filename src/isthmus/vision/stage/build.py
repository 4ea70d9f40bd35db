"""Build the model of a scene with a bank of textures, materials and shapes, lights, and places for distractors."""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Int, stream
from isthmus.vision.camera import Camera
from isthmus.vision.randomise import MOST_DISTRACTORS, MOST_LIGHTS, Randomise
from isthmus.vision.stage.scene import Scene, scene_camera, visible
from isthmus.vision.stage.solids import Solid, alike, prism, solid_of_geom
from isthmus.vision.stage.textures import make_textures

PREFIX = "isthmus "
"""Begins the name of everything that is added to a scene."""
TEXTURE = 64
"""Edge of a texture, in pixels."""
SHADOW_MAP = 256
SLICES, STACKS, QUADS = 14, 8, 3
"""Facets of round geoms, and of the edge of a box: with MuJoCo's own numbers a rendering takes a fifth longer."""
PROFILES = {
    "cone": (24, 0.0), "hexagon": (6, 1.0), "triangle": (3, 1.0), "pyramid": (4, 0.0), "tetrahedron": (3, 0.0),
    "pentagon": (5, 1.0), "bucket": (16, 0.5), "star base": (5, 0.6),
}  # fmt: skip
"""Solids that MuJoCo has no geom for: number of sides, radius of the top."""
PROPORTIONS = ((0.5, 1.0), (0.7, 1.0), (0.7, 0.5), (0.6, 1.6), (1.0, 0.7))
"""Radius as a share of the largest distractor, and height as a share of the radius: meshes cannot be scaled later."""
HARD_SCALES = (0.45, 0.6, 1.6)
"""Sizes of copies of the target that are not the target."""


@dataclass(frozen=True)
class MeshShape:
    """A mesh of the bank: which one, where it is in its geom, and what it looks like."""

    mesh: int
    position: Float
    quaternion: Float
    solid: Solid
    """In the frame of whoever places it: its middle is the origin."""
    copy: bool
    """Whether it is a copy of the target in another size."""


@dataclass(frozen=True)
class Stage:
    """The model that all images of a scene are made from, and where in it things are."""

    scene: Scene
    model: mujoco.MjModel
    data: mujoco.MjData
    camera: Camera
    """The scene's own, at full resolution."""
    camera_id: int
    target_body: int
    target_geoms: Int
    distractors: Int
    """Geoms of the distractors."""
    painted: Int
    """Geoms that get random materials: all that is visible, except for distractors."""
    materials: Int
    """Numbers of the materials of the bank."""
    roots: Int
    """Bodies that move a little, and `geoms` of the world that do."""
    geoms: Int
    meshes: tuple[MeshShape, ...]
    body_pos: Float
    geom_pos: Float
    geom_matid: Int
    geom_rgba: Float

    @property
    def copies(self) -> tuple[MeshShape, ...]:
        """Shapes of the target in other sizes."""
        return tuple(one for one in self.meshes if one.copy)


def build_stage(scene: Scene, randomise: Randomise, size: tuple[int, int], samples: int = 0, seed: int = 0) -> Stage:
    """The stage of a scene, for images of at most `size` (width, height) pixels with `samples` a pixel."""
    spec = scene.spec.copy()
    loose = [body for body in spec.bodies if body.name in scene.loose]
    for part in [*loose, *spec.lights, *_joints(spec, scene.body)]:
        spec.delete(part)
    _add_meshes(spec, scene, randomise)
    for number in range(randomise.textures):
        name = f"{PREFIX}{number}"
        spec.add_texture(
            name=name, type=mujoco.mjtTexture.mjTEXTURE_CUBE, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
            width=TEXTURE, height=TEXTURE, rgb1=[1, 1, 1], rgb2=[1, 1, 1],
        )  # fmt: skip
        material = spec.add_material(name=name)
        material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    for number in range(MOST_LIGHTS):
        spec.worldbody.add_light(name=f"{PREFIX}{number}", pos=[0, 0, 3], dir=[0, 0, -1], castshadow=number == 0)
    for number in range(MOST_DISTRACTORS):
        spec.worldbody.add_geom(
            name=f"{PREFIX}{number}", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01] * 3, contype=0, conaffinity=0
        )
    visual = spec.visual
    visual.quality.offsamples, visual.quality.shadowsize = samples, SHADOW_MAP
    visual.quality.numslices, visual.quality.numstacks, visual.quality.numquads = SLICES, STACKS, QUADS
    visual.map.znear, visual.map.zfar = 0.01, 30.0
    visual.global_.offwidth, visual.global_.offheight = size
    model = spec.compile()
    # Frames that coincide are not computed: here they may move apart from one image to the next.
    model.geom_sameframe[:] = 0
    model.body_sameframe[:] = 0
    _paint_bank(model, randomise, seed)
    return _stage(scene, model)


def _joints(spec: mujoco.MjSpec, body: str) -> list[mujoco.MjsJoint]:
    """Joints of the target, which is placed by hand, not by its joints."""
    return [joint for joint in spec.joints if joint.parent.name == body]


def _add_meshes(spec: mujoco.MjSpec, scene: Scene, randomise: Randomise) -> None:
    largest = randomise.distractor_size.high
    for name, (sides, top) in PROFILES.items():
        for number, (share, tall) in enumerate(PROPORTIONS):
            radius = share * largest
            vertices = prism(sides, top) * [radius, radius, radius * tall]
            _add_mesh(spec, f"{PREFIX}{name} {number}", vertices)
    for scale in HARD_SCALES:
        _add_mesh(spec, f"{PREFIX}copy {scale}", scene.solid.vertices * scale)
    for number, stretch in enumerate(((1.0, 1.0, 0.45), (0.5, 1.0, 1.0), (1.0, 1.0, 1.9))):
        _add_mesh(spec, f"{PREFIX}copy stretched {number}", scene.solid.vertices * stretch)


def _add_mesh(spec: mujoco.MjSpec, name: str, vertices: Float) -> None:
    """The convex hull of vertices: MuJoCo finds its faces."""
    spec.add_mesh(name=name, uservert=np.asarray(vertices).ravel())


def _paint_bank(model: mujoco.MjModel, randomise: Randomise, seed: int) -> None:
    rng = stream(seed, "vision", "textures")
    for number, image in enumerate(make_textures(randomise.textures, TEXTURE, randomise.kinds, rng)):
        texture = model.texture(f"{PREFIX}{number}").id
        first, count = int(model.tex_adr[texture]), 6 * image.size
        model.tex_data[first : first + count].reshape(6, -1)[:] = image.ravel()
        material = model.material(f"{PREFIX}{number}").id
        model.mat_specular[material], model.mat_shininess[material] = 0.8 * rng.random(2)
        model.mat_rgba[material] = 1.0


def _stage(scene: Scene, model: mujoco.MjModel) -> Stage:
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    target = model.body(scene.body).id
    own = [geom for geom in range(model.ngeom) if model.geom(geom).name.startswith(PREFIX)]
    roots_of = model.body_rootid[model.geom_bodyid]
    shown = np.array([visible(model, geom) and geom not in own for geom in range(model.ngeom)])
    fixed = [
        geom
        for geom in range(model.ngeom)
        if roots_of[geom] == 0 and "table" not in model.geom(geom).name.lower() and geom not in own
        and model.geom(geom).name != scene.table.geom
    ]  # fmt: skip
    table_root = int(roots_of[model.geom(scene.table.geom).id]) if _named(model, scene.table.geom) else 0
    roots = [
        body
        for body in range(1, model.nbody)
        if model.body_parentid[body] == 0 and body not in (target, table_root)
        and "table" not in model.body(body).name.lower()
    ]  # fmt: skip
    return Stage(
        scene, model, data, scene_camera(scene, model, data, (640, 480)), model.camera(scene.camera_name).id, target,
        np.flatnonzero(shown & (roots_of == target)), np.array(own), np.flatnonzero(shown),
        np.array([m for m in range(model.nmat) if model.material(m).name.startswith(PREFIX)]),
        np.array(roots, int), np.array(fixed, int), _meshes(model, scene), model.body_pos.copy(),
        model.geom_pos.copy(), model.geom_matid.astype(int), model.geom_rgba.astype(float),
    )  # fmt: skip


def _named(model: mujoco.MjModel, geom: str) -> bool:
    return any(model.geom(one).name == geom for one in range(model.ngeom))


def _meshes(model: mujoco.MjModel, scene: Scene) -> tuple[MeshShape, ...]:
    """The bank of meshes, without those that could be taken for the target."""
    found: list[MeshShape] = []
    for mesh in range(model.nmesh):
        name = model.mesh(mesh).name
        if not name.startswith(PREFIX):
            continue
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.mesh_quat[mesh])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        begin, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        own = Solid(
            model.mesh_vert[first : first + count].astype(float), model.mesh_face[begin : begin + faces].astype(int)
        )
        solid = own.moved(model.mesh_pos[mesh], rotation)
        if alike(solid, scene.solid):
            continue
        copy = name.startswith(f"{PREFIX}copy")
        found.append(
            MeshShape(mesh, np.array(model.mesh_pos[mesh], float), np.array(model.mesh_quat[mesh], float), solid, copy)
        )
    return tuple(found)


def geom_solid(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Solid | None:
    """The surface of a geom in the world, where the last kinematics put it."""
    solid = solid_of_geom(model, geom)
    return None if solid is None else solid.moved(data.geom_xpos[geom], data.geom_xmat[geom])
