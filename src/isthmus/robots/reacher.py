"""Reacher: a two-link arm in a horizontal plane whose fingertip is to reach a target.

As in the paper, the observation has 11 numbers and the arm weighs 34 kg, so that tilting the plane matters.
"""

import mujoco
import numpy as np

from isthmus.core import Float, Problem, WorldSpec
from isthmus.policies import View
from isthmus.robots.assets import gymnasium_spec
from isthmus.sim import Fields, RobotModel
from isthmus.tasks.task import Task

ARM = ("link0", "link1", "fingertip")
FRAME_SKIP = 2
START_ANGLE, START_SPEED, REACH = 0.1, 0.005, 0.2


def make_reacher(arm_mass: float = 34.0, *, model: mujoco.MjModel | None = None) -> Task:
    """Reacher with an arm of `arm_mass` kg; 0 leaves Gymnasium's arm (75 g) as it is.

    A compiled `model`, as from a bundle, takes the place of the one that is made of Gymnasium's file.
    """
    if not (arm_mass == 0 or 1e-3 <= arm_mass <= 1e3):
        raise Problem(f"arm-mass must be 0 (as in Gymnasium) or between 0.001 and 1000 kg, got {arm_mass:g}")
    model = model or reacher_spec(arm_mass).compile()
    fingertip, target = (model.body(name).id for name in ("fingertip", "target"))

    def to_target(fields: Fields) -> Float:
        return fields["xpos"][:, fingertip] - fields["xpos"][:, target]  # (n, 3)

    def observe(fields: Fields, out: Float) -> None:
        angles = fields["qpos"][:, :2]
        np.cos(angles, out=out[:, 0:2])
        np.sin(angles, out=out[:, 2:4])
        out[:, 4:6] = fields["qpos"][:, 2:]
        out[:, 6:8] = fields["qvel"][:, :2]
        out[:, 8:11] = to_target(fields)

    return Task(
        name="reacher",
        gym_id="Reacher-v4",
        robot_model=RobotModel(
            model=model,
            frame_skip=FRAME_SKIP,
            spec=_spec(model),
            reads=("xpos",),
            observe=observe,
            restore=_restore,
            start=_start,
        ),
        measure=to_target,
        reward=lambda before, commands, _after: _distance(before) - np.square(commands).sum(axis=1),
        score=lambda before, _commands, _after: _distance(before),
        views=(View("v4", 11), View("v5", 10, lambda observations: observations[:, :10])),
        camera={"lookat": (0.0, 0.0, 0.0), "distance": (0.75,), "azimuth": (90.0,), "elevation": (-90.0,)},
    )


def reacher_spec(arm_mass: float = 34.0) -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    spec = gymnasium_spec("reacher.xml")
    if arm_mass:
        plain = gymnasium_spec("reacher.xml").compile()
        links = {name: plain.body_mass[plain.geom(name).bodyid[0]] for name in ARM}
        for geom in spec.geoms:
            if geom.name in links:
                geom.mass = arm_mass * links[geom.name] / sum(links.values())
    # The target hangs on frictionless slides: it must stay where it is when gravity is turned into the plane.
    for body in spec.bodies:
        body.gravcomp = float(body.name == "target")
    return spec


def _spec(model: mujoco.MjModel) -> WorldSpec:
    return WorldSpec(
        observation_names=(
            *(f"{function} joint{joint}" for function in ("cos", "sin") for joint in (0, 1)),
            *("target x", "target y", "velocity joint0", "velocity joint1"),
            *(f"fingertip - target {axis}" for axis in "xyz"),
        ),
        action_names=("joint0", "joint1"),
        action_low=model.actuator_ctrlrange[:, 0].copy(),
        action_high=model.actuator_ctrlrange[:, 1].copy(),
        control_period=float(model.opt.timestep) * FRAME_SKIP,
        horizon=50,
        targets=np.arange(11),
    )


def _restore(observations: Float, qpos: Float, qvel: Float) -> None:
    """Angles come back within one turn.

    The shoulder does not mind. The elbow ends softly at 3 rad: forced past pi it would come back on the other side, and
    nothing in a single observation could tell.
    """
    np.arctan2(observations[:, 2:4], observations[:, 0:2], out=qpos[:, :2])
    qpos[:, 2:] = observations[:, 4:6]
    qvel[:, :2] = observations[:, 6:8]
    qvel[:, 2:] = 0.0


def _start(rng: np.random.Generator, n: int) -> tuple[Float, Float]:
    """Gymnasium's initial states: a nearly straight, nearly still arm and a target anywhere on a disc."""
    qpos = rng.uniform(-START_ANGLE, START_ANGLE, (n, 4))
    radius, angle = REACH * np.sqrt(rng.uniform(0, 1, n)), rng.uniform(-np.pi, np.pi, n)
    qpos[:, 2], qpos[:, 3] = radius * np.cos(angle), radius * np.sin(angle)
    qvel = rng.uniform(-START_SPEED, START_SPEED, (n, 4))
    qvel[:, 2:] = 0.0
    return qpos, qvel


def _distance(to_target: Float) -> Float:
    return -np.sqrt(np.square(to_target).sum(axis=1))
