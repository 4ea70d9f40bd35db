"""ANYmal walks at a commanded speed: joint targets 50 times a second, episodes of 20 seconds.

In the source simulator drives obey at once. The command and the time since the start are part of the observation. The
model has them as two weightless slides, so that a simulation can be put anywhere along any walk.
"""

import mujoco
import numpy as np

from isthmus.core import Bool, Float, History, WorldSpec
from isthmus.policies import View
from isthmus.robots.anymal.model import (
    JOINTS,
    STANCE,
    STIFFNESS,
    TIMESTEP,
    add_ideal_drives,
    add_motors,
    anymal_spec,
)
from isthmus.robots.anymal.trot import PERIOD, trot
from isthmus.sim import Fields, RobotModel
from isthmus.sim.robot_model import State
from isthmus.tasks.task import Task

FRAME_SKIP = 8
SLOWEST, FASTEST = 0.2, 0.8
"""Commanded speeds, in m/s."""
REACH = 1.2
"""How far from the standing pose a joint may be sent, in rad."""
LOWEST, STEEPEST = 0.25, 0.6
"""A robot whose base is lower, in m, or whose vertical axis has a smaller upward part, has fallen."""
HEIGHT = 0.475
"""Of the base above the floor where episodes start, in m."""
DRIVEN = len(JOINTS)
Z, TURN, ANGLES, CLOCK, COMMAND, VELOCITY, SPIN, SPEEDS = 0, 1, 5, 17, 18, 19, 22, 25
"""Where the observation has the base's height and orientation, the joints' angles, the time since the start and the
command, the base's velocity in the world and spin in its own frame, and the joints' speeds."""
SIZE = SPEEDS + DRIVEN
NAMES = (
    *("base z", "base qw", "base qx", "base qy", "base qz", *JOINTS, "clock", "command"),
    *(f"base {kind} {axis}" for kind in ("velocity", "spin") for axis in "xyz"),
    *(f"{joint} velocity" for joint in JOINTS),
)


def make_anymal(*, model: mujoco.MjModel | None = None) -> Task:
    """The task; a compiled `model`, as from a bundle, takes the place of the file in example-robot-data."""
    return Task(
        name="anymal",
        robot_model=robot_model(model=model),
        measure=measure,
        score=speed_kept,
        reward=walking_reward,
        views=(View("trot", 36 + DRIVEN, see_walk), View("own", SIZE)),
        policy=TrotPolicy(),
        go_on=_go_on,
        camera={"lookat": (0.1, 0.0, 0.3), "distance": (2.6,), "azimuth": (120.0,), "elevation": (-15.0,)},
    )


def walking_spec(*, motors: bool = False) -> mujoco.MjSpec:
    """The MuJoCo model, ready to be compiled, with ideal drives or with bare motors."""
    spec = anymal_spec()
    add_motors(spec) if motors else add_ideal_drives(spec, REACH)
    for name in ("clock", "command"):
        body = spec.worldbody.add_body(name=name, mass=1.0, inertia=np.ones(3), explicitinertial=True)
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE.value, axis=(1, 0, 0))
    return spec


def robot_model(*, motors: bool = False, model: mujoco.MjModel | None = None) -> RobotModel:
    """The robot with ideal drives, whose commands are angles; or with bare motors, for a channel that makes torques."""
    return RobotModel(
        model=model or walking_spec(motors=motors).compile(),
        frame_skip=FRAME_SKIP,
        spec=_spec(),
        reads=(),
        observe=_observe,
        restore=_restore,
        start=start,
        ended=_fallen,
    )


class TrotPolicy:
    """The trot without feedback: what a learned policy adds to."""

    def __call__(self, history: History) -> Float:
        """Joint angles (n, 12)."""
        now = history.current
        return trot(now[:, CLOCK], now[:, COMMAND])


def see_walk(observations: Float) -> Float:
    """What a walking policy sees (n, 48): its own frame's view of the state, the phase, the command, and the trot."""
    turned = observations[:, TURN : TURN + 4]
    phase = 2 * np.pi / PERIOD * observations[:, CLOCK : CLOCK + 1]
    command = observations[:, COMMAND : COMMAND + 1]
    return np.concatenate(
        [
            into_base(turned, np.array([0.0, 0.0, -1.0])),
            2 * into_base(turned, observations[:, VELOCITY : VELOCITY + 3]),
            observations[:, SPIN : SPIN + 3] / 4,
            observations[:, ANGLES : ANGLES + DRIVEN] - STANCE,
            observations[:, SPEEDS:] / 10,
            *(np.sin(phase), np.cos(phase), 2 * command),
            trot(observations[:, CLOCK], command[:, 0]) - STANCE,
        ],
        axis=1,
    )


def into_base(turned: Float, vectors: Float) -> Float:
    """Vectors of the world, (n, 3) or (3,), in the frame of bases whose orientations are `turned` (n, 4)."""
    unit = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9)
    w, axis = unit[:, :1], -unit[:, 1:]
    vectors = np.broadcast_to(vectors, axis.shape)
    across = 2 * np.cross(axis, vectors)
    return vectors + w * across + np.cross(axis, across)


def measure(fields: Fields) -> Float:
    """The base's velocity and spin in its own frame, its tilt, the command, and the joints' angles (n, 21)."""
    qpos, qvel = fields["qpos"], fields["qvel"]
    turned = qpos[:, 3:7]
    tilt = into_base(turned, np.array([0.0, 0.0, 1.0]))[:, :2]
    command, angles = qpos[:, 7 + DRIVEN + 1 :], qpos[:, 7 : 7 + DRIVEN]
    return np.concatenate([into_base(turned, qvel[:, :3]), qvel[:, 3:6], tilt, command, angles], axis=1)


def speed_kept(_before: Float, _commands: Float, after: Float) -> Float:
    """1 for a step at the commanded forward speed, less the share by which it is missed, at least 0."""
    return np.maximum(0.0, 1.0 - np.abs(after[:, 0] - after[:, 8]) / np.maximum(after[:, 8], SLOWEST / 2))


def walking_reward(before: Float, commands: Float, after: Float) -> Float:
    """Pay for the commanded velocity and no turning; a price on swaying, bouncing and torque."""
    forward, aside, turning = after[:, 0] - after[:, 8], after[:, 1], after[:, 5]
    swaying = (
        0.5 * after[:, 2] ** 2 + 0.05 * np.square(after[:, 3:5]).sum(axis=1) + np.square(after[:, 6:8]).sum(axis=1)
    )
    torque = STIFFNESS * (commands - before[:, 9:])
    pay = np.exp(-np.square(forward) / 0.04) + 0.3 * np.exp(-np.square(aside) / 0.04)
    return pay + 0.3 * np.exp(-np.square(turning) / 0.1) - swaying - 1e-5 * np.square(torque).sum(axis=1)


def start(rng: np.random.Generator, n: int) -> State:
    """Standing robots with a random command, at a random point of a stride."""
    qpos, qvel = np.zeros((n, 7 + DRIVEN + 2)), np.zeros((n, 6 + DRIVEN + 2))
    qpos[:, 2], qpos[:, 3] = HEIGHT, 1.0
    qpos[:, 7 : 7 + DRIVEN] = STANCE + rng.uniform(-0.05, 0.05, (n, DRIVEN))
    qpos[:, -2], qpos[:, -1] = rng.uniform(0.0, PERIOD, n), rng.uniform(SLOWEST, FASTEST, n)
    qvel[:, -2] = 1.0
    return qpos, qvel


def _spec() -> WorldSpec:
    return WorldSpec(
        observation_names=NAMES,
        action_names=JOINTS,
        action_low=STANCE - REACH,
        action_high=STANCE + REACH,
        control_period=TIMESTEP * FRAME_SKIP,
        horizon=1000,
        targets=np.delete(np.arange(SIZE), [CLOCK, COMMAND]),
        sensed=np.delete(np.arange(SIZE), [CLOCK, COMMAND]),
        commands="position",
    )


def _observe(fields: Fields, out: Float) -> None:
    out[:, :VELOCITY] = fields["qpos"][:, 2:]
    out[:, VELOCITY:] = fields["qvel"][:, : 6 + DRIVEN]


def _restore(observations: Float, qpos: Float, qvel: Float) -> None:
    """Where on the floor the robot is makes no difference: put it at the origin."""
    qpos[:, :2], qpos[:, 2:] = 0.0, observations[:, :VELOCITY]
    qvel[:, : 6 + DRIVEN] = observations[:, VELOCITY:]
    qvel[:, 6 + DRIVEN :] = (1.0, 0.0)


def _go_on(observation: Float) -> Float:
    moved = observation.copy()
    moved[CLOCK] += TIMESTEP * FRAME_SKIP
    return moved


def _fallen(fields: Fields) -> Bool:
    qpos = fields["qpos"]
    upward = 1 - 2 * (qpos[:, 4] ** 2 + qpos[:, 5] ** 2)
    return ~((qpos[:, 2] >= LOWEST) & (upward >= STEEPEST))
