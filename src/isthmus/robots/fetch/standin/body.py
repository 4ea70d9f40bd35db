"""The stand-in's own model: a heavier arm with a hand load, under gravity, with a cord on the middle of the arm."""

import mujoco
import numpy as np

from isthmus.robots.fetch.arm import JOINTS, PREFIX, arm_spec, body_of, joint_of
from isthmus.robots.fetch.standin.drives import TICK
from isthmus.robots.fetch.standin.parameters import Parameters

CORD = "cord"
TIES = ("cord_anchor", "cord_arm")
"""Where it is tied: to the world, and to the elbow."""
GEAR_INERTIA = 0.02
"""Of what turns between the backlash and the link, in kg m^2."""


def make_body(parameters: Parameters) -> mujoco.MjModel:
    """The arm without motors, and the cord with its elastic pull; an actuator adds its hysteresis."""
    spec = arm_spec()
    spec.option.timestep = TICK
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    for joint, factor in zip(JOINTS, parameters.link_mass, strict=True):
        turned = joint_of(spec, joint)
        turned.armature, turned.damping, turned.frictionloss = GEAR_INERTIA, np.zeros(3), 0.0
        link = turned.parent
        link.mass, link.inertia = link.mass * factor, np.asarray(link.inertia) * factor
    hand = body_of(spec, f"{PREFIX}gripper_link")
    hand.add_body(
        name="payload", pos=(0.05, 0, 0), mass=parameters.payload, inertia=np.full(3, 1e-3), explicitinertial=True
    )
    tied = body_of(spec, f"{PREFIX}elbow_flex_link").add_site(name=TIES[1], pos=(0.02, 0, 0), size=np.full(3, 0.02))
    anchor = spec.worldbody.add_site(name=TIES[0], pos=parameters.cord_anchor, size=np.full(3, 0.02))
    tied.rgba = anchor.rgba = (0.9, 0.3, 0.1, 1.0)
    cord = spec.add_tendon(name=CORD, width=0.006, rgba=(0.9, 0.3, 0.1, 1.0))
    cord.stiffness = (parameters.cord_stiffness, 0.0, 0.0)
    cord.springlength = (0.0, parameters.cord_rest)
    cord.wrap_site(anchor.name)
    cord.wrap_site(tied.name)
    spec.add_actuator(name=CORD, target=CORD, trntype=mujoco.mjtTrn.mjTRN_TENDON.value)
    return spec.compile()
