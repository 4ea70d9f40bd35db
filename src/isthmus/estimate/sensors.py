"""Which numbers of an observation a robot senses, from a list of words."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Bool, Int, Problem, unknown_name
from isthmus.sim import RobotModel
from isthmus.sim.anatomy import base_joints, in_robot

ALL, POSITIONS, VELOCITIES, ENCODERS, IMU = "all", "positions", "velocities", "encoders", "imu"
WORDS = (ALL, POSITIONS, VELOCITIES, ENCODERS, IMU)
"""`encoders` show positions and velocities of joints; `imu` the orientation of a floating base and its rate of change.
Where such a base is and how fast it moves, neither shows."""
NUDGE = 1e-3
FREE, BALL, HINGE = (
    kind.value for kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_HINGE)
)
SIZES = {FREE: (7, 6), BALL: (4, 3)}
"""Positions and velocities of a joint, by its kind; one of each otherwise."""


def sensed_columns(robot_model: RobotModel, words: Sequence[str]) -> Int:
    """The observation dimensions (m,) that a robot with the sensors `words` measures, in rising order.

    A word is one of `WORDS` or the name of an observation. Numbers that are the task's own (a clock, a goal) need no
    sensor: they are always known.
    """
    spec = robot_model.spec
    everything = np.arange(spec.observation_size)
    if not words:
        return everything
    chosen = np.setdiff1d(everything, spec.robot_dimensions).tolist()
    for word in words:
        if word in spec.observation_names:
            chosen.append(spec.observation_names.index(word))
        elif word in WORDS:
            chosen += everything.tolist() if word == ALL else _group(robot_model, word).tolist()
        else:
            raise unknown_name("sensor", word, (*WORDS, *spec.observation_names))
    found = np.unique(np.array(chosen, np.int64))
    if not np.isin(found, spec.robot_dimensions).any():
        raise Problem(f"nothing of the robot is sensed with sensors {', '.join(words)}: name at least one that it has")
    return found


def _group(robot_model: RobotModel, word: str) -> Int:
    """The columns of a group of sensors; a Problem where the robot has none of them."""
    moves, spec = _Moves.of(robot_model), robot_model.spec
    if word in (POSITIONS, VELOCITIES):
        fast = moves.velocities.any(axis=1)
        chosen = fast if word == VELOCITIES else moves.positions.any(axis=1) & ~fast
    else:
        chosen = moves.only(_encoded(robot_model.model) if word == ENCODERS else _turning(robot_model.model))
    found = np.intersect1d(np.flatnonzero(chosen), spec.robot_dimensions)
    if not found.size:
        why = "it has no floating base that turns" if word == IMU else "no observation is of such a value alone"
        raise Problem(
            f"there is nothing for the sensor {word!r} of this robot: {why}; name what is sensed from "
            f"{', '.join(spec.observation_names)}"
        )
    return found


def single_columns(robot_model: RobotModel) -> tuple[Int, Int]:
    """The column of an observation that shows each position (nq,) and each velocity (nv,) alone; -1 where none does."""
    moves = _Moves.of(robot_model)
    alone = moves.positions.sum(axis=1) + moves.velocities.sum(axis=1) == 1

    def columns(moved: Bool) -> Int:
        shows = moved & alone[:, None]
        return np.where(shows.any(axis=0), shows.argmax(axis=0), -1).astype(np.int64)

    return columns(moves.positions), columns(moves.velocities)


@dataclass(frozen=True)
class _Entries:
    """Some entries of a state."""

    positions: Bool  # (nq,)
    velocities: Bool  # (nv,)


@dataclass(frozen=True)
class _Moves:
    """What of a robot's state follows from each number of its observation."""

    positions: Bool  # (obs, nq)
    velocities: Bool  # (obs, nv)

    @staticmethod
    def of(robot_model: RobotModel) -> "_Moves":
        """Nudge one number after the other, and look what is restored from it."""
        model, size = robot_model.model, robot_model.spec.observation_size
        at = np.random.default_rng(0).uniform(0.1, 0.5, size)
        tried = at + NUDGE * np.vstack((np.zeros(size), np.eye(size)))
        qpos, qvel = np.tile(model.qpos0, (size + 1, 1)), np.zeros((size + 1, model.nv))
        robot_model.restore(tried, qpos, qvel)
        return _Moves(*((values[1:] != values[0]) for values in (qpos, qvel)))

    def only(self, entries: _Entries) -> Bool:
        """Which observations (obs,) tell of these entries, and of nothing else."""
        within = self.positions[:, entries.positions].any(axis=1) | self.velocities[:, entries.velocities].any(axis=1)
        beyond = self.positions[:, ~entries.positions].any(axis=1) | self.velocities[:, ~entries.velocities].any(axis=1)
        return np.asarray(within & ~beyond, np.bool_)


def _encoded(model: mujoco.MjModel) -> _Entries:
    """What encoders show: the robot's hinges and slides, without those by which its base moves."""
    base, robot = base_joints(model), in_robot(model)
    joints = [
        j for j in range(model.njnt) if robot[model.jnt_bodyid[j]] and j not in base and model.jnt_type[j] not in SIZES
    ]
    return _entries(model, [(j, 0, 0) for j in joints])


def _turning(model: mujoco.MjModel) -> _Entries:
    """What an IMU in a floating base shows: the rotational part of the joints by which it moves."""
    skipped = {FREE: (3, 3), BALL: (0, 0), HINGE: (0, 0)}
    joints = [int(j) for j in base_joints(model) if int(model.jnt_type[j]) in skipped]
    return _entries(model, [(j, *skipped[int(model.jnt_type[j])]) for j in joints])


def _entries(model: mujoco.MjModel, joints: Sequence[tuple[int, int, int]]) -> _Entries:
    """Joints, each without its first positions and velocities."""
    positions, velocities = np.zeros(model.nq, np.bool_), np.zeros(model.nv, np.bool_)
    for j, first_position, first_velocity in joints:
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        nq, nv = SIZES.get(int(model.jnt_type[j]), (1, 1))
        positions[q + first_position : q + nq] = True
        velocities[v + first_velocity : v + nv] = True
    return _Entries(positions, velocities)
