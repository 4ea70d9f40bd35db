"""Humanoid: a three-dimensional walker with 17 actuators and Gym's 376-D observation (the v2 to v4 layout).

Positions (without x and y), velocities, inertia and velocity about the centre of mass, actuator forces, contact forces.
Only the first 45 numbers are independent; the others follow from them and from the forces of the moment, so only the
45 are what an inverse model is asked to reach.

Gymnasium computes the contact forces after the last physics step; here they are those at its start, 3 ms earlier. All
else agrees exactly, and neither reward nor episode end depends on them.
"""

import dataclasses

import mujoco
import numpy as np

from isthmus.core import Bool, Float
from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.robots.locomotion import forward_pay, near_rest, state_names, walker, walker_spec, with_effort
from isthmus.sim import Fields, RobotModel
from isthmus.tasks.task import Task

LOWEST, HIGHEST = 1.0, 2.0
FRAME_SKIP, UNSEEN = 5, 2
DERIVED = {"cinert": 10, "cvel": 6, "qfrc_actuator": 1, "cfrc_ext": 6}
"""Derived quantities by field, with how many numbers each body (or degree of freedom) has of it."""
ROOT_FORCES = 6


def make_humanoid(*, model: mujoco.MjModel | None = None) -> Task:
    """Humanoid as in Gymnasium's v4; a compiled `model`, as from a bundle, takes the place of Gymnasium's file."""
    model = model or humanoid_spec().compile()
    body = _robot_model(model)
    mass: Float = model.body_mass / model.body_mass.sum()  # (nbody,)
    score = forward_pay(body.spec.control_period, alive=5.0, weight=1.25)
    in_v5 = _seen_in_v5(model)
    return Task(
        name="humanoid",
        gym_id="Humanoid-v4",
        robot_model=body,
        measure=lambda fields: (fields["xipos"][:, :, 0] @ mass)[:, None],
        reward=with_effort(score, 0.1),
        score=score,
        views=(View("v4", 376), View("v5", 348, lambda observations: observations[:, in_v5])),
        camera={"lookat": (0.0, 0.0, 1.1), "distance": (4.5,), "azimuth": (130.0,), "elevation": (-12.0,)},
    )


def _robot_model(model: mujoco.MjModel) -> RobotModel:
    """A walker that also observes what follows from its state."""
    plain = walker(model, frame_skip=FRAME_SKIP, unseen=UNSEEN, start=near_rest(model, 1e-2), ended=_fallen)
    state = plain.spec.observation_size
    bodies = [model.body(i).name for i in range(model.nbody)]
    names = (
        *state_names(model, UNSEEN),
        *(f"{name} inertia {i}" for name in bodies for i in range(DERIVED["cinert"])),
        *(f"{name} com velocity {i}" for name in bodies for i in range(DERIVED["cvel"])),
        *(f"actuator force {i}" for i in range(model.nv)),
        *(f"{name} contact force {i}" for name in bodies for i in range(DERIVED["cfrc_ext"])),
    )

    def observe(fields: Fields, out: Float) -> None:
        plain.observe(fields, out[:, :state])
        column = state
        for name in DERIVED:
            flat = fields[name].reshape(len(out), -1)
            out[:, column : column + flat.shape[1]] = flat
            column += flat.shape[1]

    def restore(observations: Float, qpos: Float, qvel: Float) -> None:
        plain.restore(observations[:, :state], qpos, qvel)

    return dataclasses.replace(
        plain,
        spec=walker_spec(model, FRAME_SKIP, names, np.arange(state)),
        reads=("xipos", *DERIVED),
        observe=observe,
        restore=restore,
    )


def _seen_in_v5(model: mujoco.MjModel) -> np.ndarray:
    """Version 5 leaves out what the world body and the unactuated root contribute (376,)."""
    visible = [np.ones(model.nq + model.nv - UNSEEN, np.bool_)]
    for name, width in DERIVED.items():
        count, left_out = (model.nv, ROOT_FORCES) if name == "qfrc_actuator" else (model.nbody, 1)
        visible.append(np.repeat(np.arange(count) >= left_out, width))
    return np.concatenate(visible)


def humanoid_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    spec = gymnasium_spec("humanoid.xml")
    # MuJoCo computes contact forces on bodies only for sensors that need them; this one is there for that alone.
    torso = next(body for body in spec.bodies if body.name == "torso")
    torso.add_site(name="contact-forces")
    spec.add_sensor(
        type=mujoco.mjtSensor.mjSENS_FORCE, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="contact-forces", name="force"
    )
    return spec


def _fallen(fields: Fields) -> Bool:
    height = fields["qpos"][:, 2]
    return ~((height > LOWEST) & (height < HIGHEST))
