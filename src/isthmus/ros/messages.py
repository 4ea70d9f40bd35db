"""The messages that a Fetch speaks, to and from plain arrays.

Debian has no package of control_msgs. A message type in ROS is its definition, and what connects two nodes is a
checksum over it: the definition is given here, and a test holds its checksum against the one of a real robot's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from isthmus.core import Float
from isthmus.ros.bindings import message, require_ros

JOINT_STATES = "/joint_states"
CLOCK = "/clock"
STOP = "/isthmus/stop"
"""Anybody may publish here to have the arm hold where it is."""
SPEED = "/isthmus/speed"
"""Where a stand-in is told how fast its time is to go; a real robot does not listen."""
ACTION = "/arm_controller/follow_joint_trajectory"
GOAL, CANCEL, RESULT = f"{ACTION}/goal", f"{ACTION}/cancel", f"{ACTION}/result"
SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS = 0, -1, -2
STATES = (
    *("PENDING", "ACTIVE", "PREEMPTED", "SUCCEEDED", "ABORTED"),
    *("REJECTED", "PREEMPTING", "RECALLING", "RECALLED", "LOST"),
)
"""Of a goal, as actionlib numbers them."""
SUCCEEDED, REJECTED = STATES.index("SUCCEEDED"), STATES.index("REJECTED")
RULE = "=" * 80
HEADER = "uint32 seq\ntime stamp\nstring frame_id\n"
GOAL_ID = "time stamp\nstring id\n"
POINT = (
    "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\nduration time_from_start\n"
)
GOAL_PARTS = {
    "std_msgs/Header": HEADER,
    "actionlib_msgs/GoalID": GOAL_ID,
    "control_msgs/FollowJointTrajectoryGoal": "trajectory_msgs/JointTrajectory trajectory\n"
    "JointTolerance[] path_tolerance\nJointTolerance[] goal_tolerance\nduration goal_time_tolerance\n",
    "trajectory_msgs/JointTrajectory": "Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n",
    "trajectory_msgs/JointTrajectoryPoint": POINT,
    "control_msgs/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
}
RESULT_PARTS = {
    "std_msgs/Header": HEADER,
    "actionlib_msgs/GoalStatus": "GoalID goal_id\nuint8 status\n"
    + "".join(f"uint8 {state}={number}\n" for number, state in enumerate(STATES))
    + "string text\n",
    "actionlib_msgs/GoalID": GOAL_ID,
    "control_msgs/FollowJointTrajectoryResult": "int32 error_code\nint32 SUCCESSFUL = 0\nint32 INVALID_GOAL = -1\n"
    "int32 INVALID_JOINTS = -2\nint32 OLD_HEADER_TIMESTAMP = -3\nint32 PATH_TOLERANCE_VIOLATED = -4\n"
    "int32 GOAL_TOLERANCE_VIOLATED = -5\nstring error_string\n",
}


@dataclass(frozen=True)
class JointReading:
    """Positions and velocities by joint name, at one time."""

    stamp: float
    names: tuple[str, ...]
    positions: Float
    velocities: Float


@dataclass(frozen=True)
class Goal:
    """Points to go to: seconds from now, and positions in the order of `names`."""

    identity: str
    names: tuple[str, ...]
    points: tuple[tuple[float, Float], ...]
    stamp: float
    """When it was sent."""


@cache
def goal_type() -> type:
    """control_msgs/FollowJointTrajectoryActionGoal."""
    return _made(
        "control_msgs/FollowJointTrajectoryActionGoal",
        "Header header\nactionlib_msgs/GoalID goal_id\nFollowJointTrajectoryGoal goal\n",
        GOAL_PARTS,
    )


@cache
def result_type() -> type:
    """control_msgs/FollowJointTrajectoryActionResult."""
    return _made(
        "control_msgs/FollowJointTrajectoryActionResult",
        "Header header\nactionlib_msgs/GoalStatus status\nFollowJointTrajectoryResult result\n",
        RESULT_PARTS,
    )


def _made(name: str, definition: str, parts: dict[str, str]) -> type:
    require_ros()
    text = definition + "".join(f"{RULE}\nMSG: {part}\n{body}" for part, body in parts.items())
    return import_module("genpy.dynamic").generate_dynamic(name, text)[name]


def read_joints(received: Any) -> JointReading:  # noqa: ANN401
    """What a sensor_msgs/JointState says; velocities are not a number where it has none."""
    positions = np.array(received.position, dtype=np.float64)
    velocities = np.array(received.velocity, dtype=np.float64)
    if velocities.shape != positions.shape:
        velocities = np.full_like(positions, np.nan)
    return JointReading(received.header.stamp.to_sec(), tuple(received.name), positions, velocities)


def write_joints(reading: JointReading, efforts: Float) -> Any:  # noqa: ANN401
    """A sensor_msgs/JointState."""
    made = message("sensor_msgs/JointState")()
    made.header.stamp = _time(reading.stamp)
    made.name = list(reading.names)
    made.position, made.velocity = reading.positions.tolist(), reading.velocities.tolist()
    made.effort = efforts.tolist()
    return made


def read_goal(received: Any) -> Goal:  # noqa: ANN401
    """What a goal asks for."""
    trajectory = received.goal.trajectory
    points = tuple(
        (float(point.time_from_start.to_sec()), np.array(point.positions, dtype=np.float64))
        for point in trajectory.points
    )
    return Goal(str(received.goal_id.id), tuple(trajectory.joint_names), points, received.header.stamp.to_sec())


def write_goal(goal: Goal) -> Any:  # noqa: ANN401
    """A goal for the arm controller, to be begun at once."""
    made: Any = goal_type()()
    made.header.stamp = made.goal_id.stamp = _time(goal.stamp)
    made.goal_id.id = goal.identity
    trajectory = made.goal.trajectory
    trajectory.joint_names = list(goal.names)
    trajectory.points = [_point(after, positions) for after, positions in goal.points]
    return made


def _point(after: float, positions: Float) -> Any:  # noqa: ANN401
    made = message("trajectory_msgs/JointTrajectoryPoint")()
    made.positions = positions.tolist()
    made.time_from_start = _duration(after)
    return made


def write_result(identity: str, state: int, code: int, text: str, now: float) -> Any:  # noqa: ANN401
    """What became of a goal."""
    made: Any = result_type()()
    made.header.stamp = _time(now)
    made.status.goal_id.id, made.status.status, made.status.text = identity, state, text
    made.result.error_code, made.result.error_string = code, text
    return made


def write_clock(now: float) -> Any:  # noqa: ANN401
    """A rosgraph_msgs/Clock."""
    made = message("rosgraph_msgs/Clock")()
    made.clock = _time(now)
    return made


def columns(names: Sequence[str], wanted: Sequence[str]) -> list[int] | None:
    """Where each of the `wanted` joints is among `names`; None unless all are there."""
    at = {name: column for column, name in enumerate(names)}
    return [at[joint] for joint in wanted] if all(joint in at for joint in wanted) else None


def _time(seconds: float) -> Any:  # noqa: ANN401
    return import_module("genpy").Time.from_sec(seconds)


def _duration(seconds: float) -> Any:  # noqa: ANN401
    return import_module("genpy").Duration.from_sec(seconds)
