"""ANYmal B, from the URDF in the example-robot-data wheel, whose Python package is not used.

The file needs mending before MuJoCo moves the robot as it is. The `base` link has a dummy inertia that no body can
have. Deleting it would make MuJoCo take masses from the collision shapes: 70 kg instead of 30. Visual meshes are left
out.
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from xml.etree import ElementTree as Xml

import mujoco
import numpy as np

from isthmus.core import Problem

URDF = "cmeel.prefix/share/example-robot-data/robots/anymal_b_simple_description/robots/anymal.urdf"
LEGS = ("LF", "RF", "LH", "RH")
JOINTS = tuple(f"{leg}_{joint}" for leg in LEGS for joint in ("HAA", "HFE", "KFE"))
STANCE = np.array([0.0, 0.4, -0.8, 0.0, 0.4, -0.8, 0.0, -0.4, 0.8, 0.0, -0.4, 0.8])
"""Joint angles of the standing robot, in rad."""
STANCE_HEIGHT = 0.5
"""Of the base above the floor when the feet just touch it, in m."""
TIMESTEP = 0.0025
STIFFNESS, DAMPING, EFFORT = 80.0, 2.0, 40.0
"""Of the drives' impedance control: N m / rad, N m s / rad, and the largest torque in N m."""
FLOOR_FRICTION = (0.8, 0.02, 0.01)
TOUCHING = {"base": (mujoco.mjtGeom.mjGEOM_BOX,), "THIGH": (mujoco.mjtGeom.mjGEOM_CYLINDER,)}
"""Shapes besides the feet that may touch the floor, by the end of their body's name: belly and knees."""


def urdf_path() -> Path:
    """Where the robot's description is installed."""
    try:
        path = Path(str(distribution("example-robot-data").locate_file(URDF)))
    except PackageNotFoundError:
        path = Path()
    if not path.is_file():
        raise Problem(
            "ANYmal's model comes with example-robot-data, which is not installed: pip install isthmus[anymal]"
        )
    return path


def anymal_spec() -> mujoco.MjSpec:
    """The robot on a floor, with a free base and without actuators, ready to be edited."""
    spec = mujoco.MjSpec.from_string(_mended(urdf_path()))
    spec.compiler.fusestatic, spec.compiler.discardvisual = True, False  # keep shapes that touch nothing, for pictures
    base = spec.body("base")
    if base is None or {joint.name for joint in spec.joints} < set(JOINTS):
        raise Problem(
            "the installed model of ANYmal has other links: install the example-robot-data of constraints.txt"
        )
    base.add_freejoint(name="root")
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, int(_touches(geom))
        geom.friction, geom.condim = FLOOR_FRICTION, 3
    _add_chequers(spec)
    spec.worldbody.add_geom(
        name="floor",
        material="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE.value,
        size=(0, 0, 0.1),
        contype=1,
        conaffinity=0,
        friction=FLOOR_FRICTION,
        condim=3,
    )
    for joint in spec.joints:
        joint.limited = joint.actfrclimited = 0  # the file's limits are +/-9.42 rad, as good as none
    option = spec.option
    option.timestep = TIMESTEP
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL.value
    option.iterations = option.ls_iterations = 10
    return spec


def add_motors(spec: mujoco.MjSpec) -> None:
    """Drive the joints by torques: a command is in N m."""
    for name in JOINTS:
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT.value)
        motor.set_to_motor()


def add_ideal_drives(spec: mujoco.MjSpec, reach: float) -> None:
    """Drive the joints by an impedance control that is obeyed at once: a command is an angle in rad.

    Commands reach as far as `reach` to both sides of the standing pose.
    """
    for name, stance in zip(JOINTS, STANCE, strict=True):
        servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT.value)
        servo.set_to_position(kp=STIFFNESS, kv=DAMPING)
        servo.forcerange, servo.forcelimited = (-EFFORT, EFFORT), 1
        servo.ctrlrange, servo.ctrllimited = (stance - reach, stance + reach), 1


def _mended(path: Path) -> str:
    """The URDF as MuJoCo can read it."""
    robot = Xml.parse(path).getroot()  # noqa: S314 - a file of an installed package
    for inertia in robot.iterfind("link[@name='base']/inertial/inertia"):
        for term in ("ixy", "ixz", "iyz"):
            inertia.set(term, "0")
    compiler = {"discardvisual": "true", "fusestatic": "false", "strippath": "true", "balanceinertia": "false"}
    Xml.SubElement(Xml.SubElement(robot, "mujoco"), "compiler", compiler)
    return Xml.tostring(robot, encoding="unicode")


def _add_chequers(spec: mujoco.MjSpec) -> None:
    """A floor on which motion can be seen, and a sky."""
    kinds, builtin = mujoco.mjtTexture, mujoco.mjtBuiltin
    for name, kind, pattern, light, dark in (
        ("floor", kinds.mjTEXTURE_2D, builtin.mjBUILTIN_CHECKER, 0.55, 0.4),
        ("sky", kinds.mjTEXTURE_SKYBOX, builtin.mjBUILTIN_GRADIENT, 0.95, 0.7),
    ):
        spec.add_texture(
            name=name, type=kind.value, builtin=pattern.value, rgb1=[light] * 3, rgb2=[dark] * 3, width=64, height=64
        )
    floor = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True)
    floor.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB.value] = "floor"


def _touches(geom: mujoco.MjsGeom) -> bool:
    body = geom.parent.name
    if geom.type == mujoco.mjtGeom.mjGEOM_SPHERE:
        return True
    return any(body.endswith(end) and geom.type in kinds for end, kinds in TOUCHING.items())
