"""The swing of the Fetch arm: a robot under position control is to move as its simulator did.

The source simulator is the clean arm: no cord, no friction, gravity made up for, stiff and critically damped position
control. The swing's number and the time since its start are part of the observation, as a target is of Reacher's. The
model has them as two weightless slides, so that a simulation can be put anywhere along any swing.
"""

from functools import cache, partial

import mujoco
import numpy as np

from isthmus.core import Float, History, WorldSpec, rollout
from isthmus.robots.fetch.arm import HOME, JOINTS, REACH, SPEED_LIMITS, arm_spec, joint_of
from isthmus.robots.fetch.swings import PERIOD, STEPS, TEST, TRAINING, references
from isthmus.sim import Fields, MujocoWorld, RobotModel
from isthmus.tasks.task import Task

TIMESTEP = 0.01
ARMATURE = 0.2
STIFFNESS = np.array([3000.0, 3000.0, 500.0, 900.0, 300.0, 300.0, 250.0])
"""Of each joint, in N m / rad: some 35 rad/s."""
ARM = len(JOINTS)
CLOCK, SWING = 2 * ARM, 2 * ARM + 1
"""Where the observation has the seconds since the start, and the swing's number."""


def make_fetch_swing(*, model: mujoco.MjModel | None = None) -> Task:
    """The task; a compiled `model`, as from a bundle, takes the place of the file in gymnasium-robotics."""
    body = RobotModel(
        model=model or fetch_spec().compile(),
        frame_skip=round(PERIOD / TIMESTEP),
        spec=_spec(),
        reads=(),
        observe=_observe,
        restore=_restore,
        start=_start_training,
    )
    return Task(
        name="fetch-swing",
        robot_model=body,
        measure=partial(distance, model=model),
        score=lambda _before, _commands, after: -after[:, 0],
        policy=SwingPolicy(),
        judged=_start_test,
        speed_limits=SPEED_LIMITS,
        go_on=_go_on,
        camera={"lookat": (0.75, 0.26, 0.75), "distance": (2.2,), "azimuth": (125.0,), "elevation": (-18.0,)},
    )


class SwingPolicy:
    """Sends the joints to where the swing has them at the end of the step: what the simulator makes of it is wanted."""

    def __call__(self, history: History) -> Float:
        """Commands (n, 7)."""
        now = history.current
        return references(now[:, SWING], now[:, CLOCK] + PERIOD)


def courses(model: mujoco.MjModel | None = None) -> tuple[Float, Float, Float]:
    """Where every swing's own simulation is, how fast, each (swings, steps + 1, 7), and its diameter (swings,)."""
    return _courses(model)


@cache
def _courses(model: mujoco.MjModel | None) -> tuple[Float, Float, Float]:
    numbers = np.array(TRAINING + TEST, dtype=np.float64)
    world = MujocoWorld(make_fetch_swing(model=model).robot_model, len(numbers))
    start = world.place(at_start(numbers))
    moments = rollout(world, SwingPolicy(), start, steps=STEPS)
    seen = np.stack([start, *(moment.step.observations for moment in moments)], axis=1)
    reference, speed = seen[:, :, :ARM], seen[:, :, ARM : 2 * ARM]
    apart = np.linalg.norm(reference[:, :, None] - reference[:, None], axis=-1)
    return reference, speed, apart.max(axis=(1, 2))


def at_start(numbers: Float) -> Float:
    """The observations (n, obs) in which swings begin."""
    out = np.zeros((len(numbers), 2 * ARM + 2))
    out[:, :ARM], out[:, SWING] = HOME, numbers
    return out


def distance(fields: Fields, model: mujoco.MjModel | None = None) -> Float:
    """How far the arm is from its simulator's own trajectory, as a share of that trajectory's diameter (n, 1)."""
    qpos = fields["qpos"]
    positions, _, diameter = on_reference(qpos[:, ARM + 1], qpos[:, ARM], model=model)
    return (np.linalg.norm(qpos[:, :ARM] - positions, axis=1) / diameter)[:, None]


def on_reference(
    numbers: Float, times: Float, ahead: int = 0, model: mujoco.MjModel | None = None
) -> tuple[Float, Float, Float]:
    """Where the swings' own simulations are, `ahead` steps after times (n,), and how fast, each (n, 7); diameters (n,).

    A swing that is over stays where it ended.
    """
    reference, speed, diameter = courses(model)
    row = np.searchsorted(TRAINING + TEST, np.rint(numbers))
    step = np.clip(np.rint(times / PERIOD).astype(np.int64) + ahead, 0, STEPS)
    return reference[row, step], speed[row, step], diameter[row]


def fetch_spec() -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled."""
    spec = arm_spec()
    spec.option.timestep = TIMESTEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST.value
    for body in spec.bodies:
        body.gravcomp = 1.0
    for joint, reach, stiffness in zip(JOINTS, REACH, STIFFNESS, strict=True):
        driven = joint_of(spec, joint)
        driven.armature, driven.damping, driven.frictionloss = ARMATURE, np.zeros(3), 0.0
        actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT.value)
        actuator.set_to_position(kp=stiffness, dampratio=1.0)
        actuator.ctrlrange, actuator.ctrllimited = (-reach, reach), 1
    for name in ("clock", "swing"):
        body = spec.worldbody.add_body(name=name, mass=1.0, inertia=np.ones(3), explicitinertial=True)
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE.value, axis=(1, 0, 0))
    return spec


def _spec() -> WorldSpec:
    return WorldSpec(
        observation_names=(*JOINTS, *(f"{joint} velocity" for joint in JOINTS), "clock", "swing"),
        action_names=JOINTS,
        action_low=-REACH,
        action_high=REACH,
        control_period=PERIOD,
        horizon=STEPS,
        targets=np.arange(ARM),
        sensed=np.arange(2 * ARM),
        commands="position",
    )


def _observe(fields: Fields, out: Float) -> None:
    out[:, :ARM] = fields["qpos"][:, :ARM]
    out[:, ARM : 2 * ARM] = fields["qvel"][:, :ARM]
    out[:, 2 * ARM :] = fields["qpos"][:, ARM:]


def _restore(observations: Float, qpos: Float, qvel: Float) -> None:
    qpos[:, :ARM], qpos[:, ARM:] = observations[:, :ARM], observations[:, 2 * ARM :]
    qvel[:, :ARM] = observations[:, ARM : 2 * ARM]
    qvel[:, ARM:] = (1.0, 0.0)


def _go_on(observation: Float) -> Float:
    moved = observation.copy()
    moved[CLOCK] += PERIOD
    return moved


def _start(numbers: Float) -> tuple[Float, Float]:
    qpos, qvel = np.zeros((len(numbers), ARM + 2)), np.zeros((len(numbers), ARM + 2))
    _restore(at_start(numbers), qpos, qvel)
    return qpos, qvel


def _start_training(rng: np.random.Generator, n: int) -> tuple[Float, Float]:
    return _start(rng.choice(np.array(TRAINING, dtype=np.float64), n))


def _start_test(_rng: np.random.Generator, n: int) -> tuple[Float, Float]:
    """Every test swing in turn."""
    return _start(np.resize(np.array(TEST, dtype=np.float64), n))
