"""One leg of a small quadruped on a vertical rail, asked to squat in time.

An action is what a host asks the leg's firmware for: joint angles from the pose that it stands in. In the source
simulator the joints follow them by an ideal PD controller with the firmware's gains; on a target `firmware:BOARD` the
firmware itself drives the motors.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from isthmus.core import Float, History, WorldSpec, check_range
from isthmus.policies import View
from isthmus.sim import Fields, RobotModel
from isthmus.tasks.task import Task

MODEL = Path(__file__).resolve().parents[1] / "firmware" / "robot" / "leg.xml"
JOINTS = ("abduction", "hip", "knee")
POSE = np.array([0.0, 0.8, -1.6])
KP, KD, LIMIT, REACH = 60.0, 1.5, 23.0, 0.6
LINK, FOOT, LOAD = 0.2, 0.02, 4.25
"""Length of thigh and shin, radius of the foot, mass above it."""
PERIOD, STEPS, FRAME_SKIP = 0.02, 100, 20
LEAD = 2 * PERIOD
MIDDLE, DEPTH, FREQUENCY = 0.285, 0.025, 1.0
TOLERANCE = 0.01
"""Metres off the wanted height that are worth nothing."""
CLOCK, OBS = 8, 9
RAIL = 4
"""Positions of the leg itself."""


def make_leg_squat(frequency: float = FREQUENCY, *, model: mujoco.MjModel | None = None) -> Task:
    """The leg on its rail, which squats so many times a second.

    A compiled `model`, as from a bundle, takes the place of the package's file.
    """
    check_range("frequency", frequency, 0.2, 2.5)
    model, wanted = model or leg_spec().compile(), partial(wanted_height, frequency=frequency)
    return Task(
        name="leg-squat",
        robot_model=RobotModel(
            model=model,
            frame_skip=FRAME_SKIP,
            spec=_spec(),
            reads=(),
            observe=_observe,
            restore=_restore,
            start=partial(_start, frequency=frequency),
        ),
        measure=lambda fields: (fields["qpos"][:, 0] - wanted(fields["qpos"][:, RAIL]))[:, None],
        score=lambda _before, _commands, after: np.maximum(1 - np.abs(after[:, 0]) / TOLERANCE, 0),
        reward=lambda _before, _commands, after: 1 / (1 + (after[:, 0] / TOLERANCE) ** 2),
        views=(View("phase", 10, partial(_phase, frequency=frequency)), View("own", OBS)),
        policy=partial(squat_policy, wanted=wanted),
        camera={"lookat": (0.0, 0.0, 0.2), "distance": (1.0,), "azimuth": (120.0,), "elevation": (-10.0,)},
    )


def wanted_height(time: Float, frequency: float = FREQUENCY) -> Float:
    """Of the hip, in metres."""
    return MIDDLE + DEPTH * np.sin(2 * np.pi * frequency * time)


def squat_policy(history: History, wanted: Callable[[Float], Float] = wanted_height) -> Float:
    """Angles that lead to the height wanted two steps on, and what the knee gives way under the weight."""
    height = wanted(history.current[:, CLOCK] + LEAD)
    bend = np.arccos(np.clip((height - FOOT) / (2 * LINK), -1, 1))
    sag = LOAD * 9.81 * LINK * np.sin(bend) / KP
    return np.stack([np.zeros_like(bend), bend - POSE[1], -2 * bend - POSE[2] + sag], axis=1)


def leg_spec(**_options: float) -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled; it is the same with all options of the task."""
    spec = mujoco.MjSpec.from_file(str(MODEL))
    for actuator, angle in zip(spec.actuators, POSE, strict=True):
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED.value
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE.value
        actuator.gainprm[0] = KP
        actuator.biasprm[:3] = (KP * angle, -KP, -KD)
        actuator.ctrlrange, actuator.ctrllimited = (-REACH, REACH), 1
        actuator.forcerange, actuator.forcelimited = (-LIMIT, LIMIT), 1
    clock = spec.worldbody.add_body(name="clock", mass=1.0, inertia=np.ones(3), explicitinertial=True)
    clock.gravcomp = 1.0  # time does not fall, whatever is found out about gravity
    clock.add_joint(name="clock", type=mujoco.mjtJoint.mjJNT_SLIDE.value, axis=(1, 0, 0), damping=np.zeros(3))
    for key in list(spec.keys):
        spec.delete(key)
    return spec


def _spec() -> WorldSpec:
    joints = ("rail", *JOINTS)
    return WorldSpec(
        observation_names=(*joints, *(f"{joint} velocity" for joint in joints), "clock"),
        action_names=JOINTS,
        action_low=np.full(3, -REACH),
        action_high=np.full(3, REACH),
        control_period=PERIOD,
        horizon=STEPS,
        targets=np.arange(4),
        sensed=np.arange(8),
        commands="position",
    )


def _observe(fields: Fields, out: Float) -> None:
    out[:, :4], out[:, 4:8] = fields["qpos"][:, :4], fields["qvel"][:, :4]
    out[:, CLOCK] = fields["qpos"][:, RAIL]


def _restore(observations: Float, qpos: Float, qvel: Float) -> None:
    qpos[:, :4], qpos[:, RAIL] = observations[:, :4], observations[:, CLOCK]
    qvel[:, :4], qvel[:, RAIL] = observations[:, 4:8], 1.0


def _phase(observations: Float, frequency: float) -> Float:
    """What a network sees: the clock as a phase."""
    angle = 2 * np.pi * frequency * observations[:, CLOCK]
    return np.column_stack((observations[:, :CLOCK], np.sin(angle), np.cos(angle)))


def _start(rng: np.random.Generator, n: int, frequency: float) -> tuple[Float, Float]:
    """At rest on the floor, somewhere in its course."""
    qpos, qvel = np.zeros((n, 5)), np.zeros((n, 5))
    bend = 0.8 + rng.uniform(-0.08, 0.08, n)
    qpos[:, 0] = 2 * LINK * np.cos(bend) + FOOT
    qpos[:, 2], qpos[:, 3], qpos[:, RAIL] = bend, -2 * bend, rng.uniform(0, 1 / frequency, n)
    qvel[:, RAIL] = 1.0
    return qpos, qvel
