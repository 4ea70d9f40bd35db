"""What walkers have in common: they see positions and velocities, and are paid for going forward."""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Int, WorldSpec
from isthmus.sim import Fields, RobotModel
from isthmus.sim.robot_model import never_ends

FASTEST_SEEN = 10.0
State = tuple[Float, Float]


def walker(
    model: mujoco.MjModel,
    *,
    frame_skip: int,
    unseen: int,
    start: Callable[[np.random.Generator, int], State],
    ended: Callable[[Fields], Bool | None] = never_ends,
    targets: Int | None = None,
    reads: tuple[str, ...] = (),
) -> RobotModel:
    """A robot that observes all positions but the first `unseen`, and all velocities."""
    positions = model.nq - unseen

    def observe(fields: Fields, out: Float) -> None:
        out[:, :positions] = fields["qpos"][:, unseen:]
        out[:, positions:] = fields["qvel"]

    def restore(observations: Float, qpos: Float, qvel: Float) -> None:
        """What was not observed, where on the ground it is, makes no difference: put it at the origin."""
        qpos[:, :unseen] = 0.0
        qpos[:, unseen:] = observations[:, :positions]
        qvel[:] = observations[:, positions:]

    return RobotModel(
        model=model,
        frame_skip=frame_skip,
        spec=walker_spec(model, frame_skip, state_names(model, unseen), targets),
        reads=reads,
        observe=observe,
        restore=restore,
        start=start,
        ended=ended,
    )


def walker_spec(model: mujoco.MjModel, frame_skip: int, names: tuple[str, ...], targets: Int | None) -> WorldSpec:
    """Names, limits and rates of a walker; it is asked to reach all it observes unless `targets` says otherwise."""
    driven = [model.joint(int(joint)).name for joint in model.actuator_trnid[:, 0]]
    return WorldSpec(
        observation_names=names,
        action_names=tuple(driven),
        action_low=model.actuator_ctrlrange[:, 0].copy(),
        action_high=model.actuator_ctrlrange[:, 1].copy(),
        control_period=float(model.opt.timestep) * frame_skip,
        horizon=1000,
        targets=np.arange(len(names)) if targets is None else targets,
    )


def state_names(model: mujoco.MjModel, unseen: int) -> tuple[str, ...]:
    """A name for each position but the first `unseen`, and for each velocity."""
    positions: list[str] = []
    velocities: list[str] = []
    for joint in range(model.njnt):
        name = model.joint(joint).name
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            positions += [f"{name} {axis}" for axis in ("x", "y", "z", "qw", "qx", "qy", "qz")]
            velocities += [f"{name} {kind} {axis}" for kind in ("velocity", "spin") for axis in "xyz"]
        else:
            positions.append(name)
            velocities.append(f"{name} velocity")
    return (*positions[unseen:], *velocities)


def near_rest(
    model: mujoco.MjModel, noise: float, *, normal_speeds: bool = False
) -> Callable[[np.random.Generator, int], State]:
    """Gymnasium's initial states: the model's own pose at rest, each number off by a little."""

    def start(rng: np.random.Generator, n: int) -> State:
        qpos = model.qpos0 + rng.uniform(-noise, noise, (n, model.nq))
        if normal_speeds:
            return qpos, noise * rng.standard_normal((n, model.nv))
        return qpos, rng.uniform(-noise, noise, (n, model.nv))

    return start


def forward_pay(period: float, *, alive: float, weight: float = 1.0) -> Callable[[Float, Float, Float], Float]:
    """Pay for the speed at which the first measure grows, and for not having fallen."""

    def score(before: Float, _commands: Float, after: Float) -> Float:
        return weight * (after[:, 0] - before[:, 0]) / period + alive

    return score


def with_effort(score: Callable[[Float, Float, Float], Float], cost: float) -> Callable[[Float, Float, Float], Float]:
    """The same pay, less a price on squared commands."""

    def reward(before: Float, commands: Float, after: Float) -> Float:
        return score(before, commands, after) - cost * np.square(commands).sum(axis=1)

    return reward


def forward_position(fields: Fields) -> Float:
    """How far forward the root is (n, 1)."""
    return fields["qpos"][:, :1]


def clipped_speeds(unseen: int, positions: int) -> Callable[[Float], Float]:
    """What Gymnasium shows of an observation: without its first `unseen` numbers, and with clipped velocities."""

    def see(observations: Float) -> Float:
        seen = observations[:, unseen:].copy()
        velocities = seen[:, positions:]
        np.maximum(velocities, -FASTEST_SEEN, out=velocities)
        np.minimum(velocities, FASTEST_SEEN, out=velocities)
        return seen

    return see
