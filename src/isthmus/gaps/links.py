"""Make a link of a compiled model longer.

All that is attached to the link moves away from the joint it turns about in proportion; capsules and cylinders get
longer and keep their radius; mass and inertia follow at the density the link had. A robot that stands is raised, so
that its lowest point starts where it did.
"""

import mujoco
import numpy as np

from isthmus.core import Float, Int

SPHERE, CAPSULE, CYLINDER = (
    mujoco.mjtGeom.mjGEOM_SPHERE.value,
    mujoco.mjtGeom.mjGEOM_CAPSULE.value,
    mujoco.mjtGeom.mjGEOM_CYLINDER.value,
)
TURNING = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_BALL.value)
TOLERANCE = 1e-6


def not_to_be_stretched(model: mujoco.MjModel, body: str) -> str | None:
    """Why the link cannot be made longer, or None when it can."""
    link = model.body(body).id
    geoms = _geoms(model, link)
    kinds = model.geom_type[geoms]
    if not np.isin(kinds, (SPHERE, CAPSULE, CYLINDER)).all():
        return f"{body!r} is not made of capsules, cylinders and spheres only"
    if not np.isin(kinds, (CAPSULE, CYLINDER)).any() and not _children(model, link).size:
        return f"{body!r} has no length"
    if model.neq:
        return "it is closed by equality constraints"
    mass, centre, inertia = _from_geoms(model, link)
    if mass == 0 or model.body_mass[link] == 0:
        return f"{body!r} has no mass"
    about = _rotation(model.body_iquat[link])
    own = about @ np.diag(model.body_inertia[link]) @ about.T
    density = model.body_mass[link] / mass
    size = np.linalg.norm(own)
    if (
        np.abs(density * inertia - own).max() > TOLERANCE * size
        or np.abs(centre - model.body_ipos[link]).max() > TOLERANCE
    ):
        return f"the inertia of {body!r} is not that of its shape at one density"
    return None


def stretch(model: mujoco.MjModel, factor: float, body: str) -> None:
    """Make the link `factor` times as long, in place."""
    link = model.body(body).id
    root = model.body_rootid[link]
    density = model.body_mass[link] / _from_geoms(model, link)[0]
    lowest = _lowest(model, root)
    origin = _anchor(model, link)
    for child in _children(model, link):
        turned = _rotation(model.body_quat[child])
        # A joint stays where the link ends; what is welded on moves by its centre of mass.
        held = _anchor(model, child) if _turning(model, child).size else model.body_ipos[child]
        model.body_pos[child] += (factor - 1) * (model.body_pos[child] + turned @ held - origin)
    geoms = _geoms(model, link)
    sites, joints = np.flatnonzero(model.site_bodyid == link), _turning(model, link)
    for positions, which in ((model.geom_pos, geoms), (model.site_pos, sites), (model.jnt_pos, joints)):
        positions[which] = origin + factor * (positions[which] - origin)
    model.geom_size[geoms[np.isin(model.geom_type[geoms], (CAPSULE, CYLINDER))], 1] *= factor
    _weigh(model, link, density)
    mujoco.mj_setConst(model, mujoco.MjData(model))  # all that MuJoCo derives, such as boxes around geoms, follows
    _raise(model, root, lowest - _lowest(model, root))


def _geoms(model: mujoco.MjModel, link: int) -> Int:
    return np.flatnonzero(model.geom_bodyid == link)


def _children(model: mujoco.MjModel, link: int) -> Int:
    return np.flatnonzero(model.body_parentid == link)


def _turning(model: mujoco.MjModel, link: int) -> Int:
    return np.flatnonzero((model.jnt_bodyid == link) & np.isin(model.jnt_type, TURNING))


def _anchor(model: mujoco.MjModel, link: int) -> Float:
    """The point a link turns about, in its own frame: its last joint, or its origin when it has none (3,)."""
    joints = _turning(model, link)
    return model.jnt_pos[joints[-1]].copy() if joints.size else np.zeros(3)


def _rotation(quat: Float) -> Float:
    """The rotation matrix of a quaternion (3, 3)."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


def _from_geoms(model: mujoco.MjModel, link: int) -> tuple[float, Float, Float]:
    """Mass, centre (3,) and inertia about it (3, 3) of a link's geoms, all of density 1, in its own frame."""
    parts: list[tuple[float, Float, Float]] = []
    for geom in _geoms(model, link):
        mass, principal = _solid(int(model.geom_type[geom]), *model.geom_size[geom, :2])
        turned = _rotation(model.geom_quat[geom])
        parts.append((mass, model.geom_pos[geom].copy(), turned @ np.diag(principal) @ turned.T))
    whole = sum(mass for mass, _, _ in parts)
    if whole == 0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = np.sum([mass * at for mass, at, _ in parts], axis=0) / whole
    inertia = np.zeros((3, 3))
    for mass, at, own in parts:
        away = at - centre
        inertia += own + mass * (away @ away * np.eye(3) - np.outer(away, away))
    return whole, centre, inertia


def _solid(kind: int, radius: float, half: float) -> tuple[float, Float]:
    """Mass and principal inertia (3,) of a sphere, cylinder or capsule of density 1, the last two along z."""
    ball = 4 / 3 * np.pi * radius**3
    if kind == SPHERE:
        return ball, np.full(3, 0.4 * ball * radius**2)
    height = 2 * half
    rod = np.pi * radius**2 * height
    across, along = rod * (3 * radius**2 + height**2) / 12, rod * radius**2 / 2
    if kind == CYLINDER:
        return rod, np.array([across, across, along])
    # Two half balls, their flat sides `half` away from the middle.
    across += ball * (0.4 * radius**2 + height * (3 * radius + 2 * height) / 8)
    along += 0.4 * ball * radius**2
    return rod + ball, np.array([across, across, along])


def _weigh(model: mujoco.MjModel, link: int, density: float) -> None:
    """Give a link the mass and inertia of its geoms."""
    mass, centre, inertia = _from_geoms(model, link)
    principal, axes, quat = np.empty(3), np.empty(9), np.empty(4)
    mujoco.mju_eig3(principal, axes, quat, (density * inertia).ravel())
    model.body_mass[link], model.body_ipos[link] = density * mass, centre
    model.body_inertia[link], model.body_iquat[link] = principal, quat


def _lowest(model: mujoco.MjModel, root: int) -> float:
    """The height of the lowest point of a tree of bodies in its reference pose."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    solid = (model.geom_contype | model.geom_conaffinity) != 0
    geoms = np.flatnonzero((model.body_rootid[model.geom_bodyid] == root) & solid)
    up = data.geom_xmat[geoms, 6:]  # (geoms, 3): world z in each geom's frame
    boxes = model.geom_aabb[geoms]  # (geoms, 6): centre and half sizes
    low = data.geom_xpos[geoms, 2] + (up * boxes[:, :3]).sum(axis=1) - (np.abs(up) * boxes[:, 3:]).sum(axis=1)
    return float(low.min(initial=np.inf))


def _raise(model: mujoco.MjModel, root: int, height: float) -> None:
    """Raise a robot that is free to move up and down; its height still reads what it is."""
    if not np.isfinite(height):
        return
    upright = _rotation(model.body_quat[root])
    for joint in np.flatnonzero(model.jnt_bodyid == root):
        address, axis = model.jnt_qposadr[joint], upright @ model.jnt_axis[joint]
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE.value:
            model.qpos0[address + 2] += height
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE.value and abs(axis[2]) > 1 - TOLERANCE:
            model.qpos0[address] += height * np.sign(axis[2])
        else:
            continue
        model.body_pos[root, 2] += height
        mujoco.mj_setConst(model, mujoco.MjData(model))
        return
