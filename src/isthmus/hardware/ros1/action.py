"""The action by which a Fetch's arm is sent along a trajectory: goals, cancels, and what becomes of a goal.

Debian has no package of control_msgs. A message type in ROS is its definition, and what connects two nodes is a
checksum over it: the definitions are given here, and a test holds their checksums against those of a real robot's.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from isthmus.core import Float
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.ros1.bindings import message, require_ros
from isthmus.hardware.ros1.messages import as_duration, as_time

STATES = (
    *("PENDING", "ACTIVE", "PREEMPTED", "SUCCEEDED", "ABORTED"),
    *("REJECTED", "PREEMPTING", "RECALLING", "RECALLED", "LOST"),
)
"""Of a goal, as actionlib numbers them."""
RULE = "=" * 80
HEADER = "uint32 seq\ntime stamp\nstring frame_id\n"
GOAL_ID = "time stamp\nstring id\n"
POINT = (
    "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\nduration time_from_start\n"
)
HEADED = {"std_msgs/Header": HEADER, "actionlib_msgs/GoalID": GOAL_ID}
TRAJECTORY_POINT = {"trajectory_msgs/JointTrajectoryPoint": POINT}
GOAL_STATUS = {
    "actionlib_msgs/GoalStatus": "GoalID goal_id\nuint8 status\n"
    + "".join(f"uint8 {state}={number}\n" for number, state in enumerate(STATES))
    + "string text\n",
}
_GOAL = {
    **HEADED,
    **TRAJECTORY_POINT,
    "control_msgs/FollowJointTrajectoryGoal": "trajectory_msgs/JointTrajectory trajectory\n"
    "JointTolerance[] path_tolerance\nJointTolerance[] goal_tolerance\nduration goal_time_tolerance\n",
    "trajectory_msgs/JointTrajectory": "Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n",
    "control_msgs/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
}
_RESULT = {
    **HEADED,
    **GOAL_STATUS,
    "control_msgs/FollowJointTrajectoryResult": "int32 error_code\nint32 SUCCESSFUL = 0\nint32 INVALID_GOAL = -1\n"
    "int32 INVALID_JOINTS = -2\nint32 OLD_HEADER_TIMESTAMP = -3\nint32 PATH_TOLERANCE_VIOLATED = -4\n"
    "int32 GOAL_TOLERANCE_VIOLATED = -5\nstring error_string\n",
}
_FEEDBACK = {
    **HEADED,
    **GOAL_STATUS,
    **TRAJECTORY_POINT,
    "control_msgs/FollowJointTrajectoryFeedback": "Header header\nstring[] joint_names\n"
    "trajectory_msgs/JointTrajectoryPoint desired\ntrajectory_msgs/JointTrajectoryPoint actual\n"
    "trajectory_msgs/JointTrajectoryPoint error\n",
}
PARTS = {"Goal": _GOAL, "Result": _RESULT, "Feedback": _FEEDBACK}
"""The definitions of what each message is made of."""


@cache
def action_type(kind: Literal["Goal", "Result", "Feedback"]) -> type:
    """control_msgs/FollowJointTrajectoryAction of that kind: Goal, Result or Feedback."""
    about = "actionlib_msgs/GoalID goal_id" if kind == "Goal" else "actionlib_msgs/GoalStatus status"
    definition = f"Header header\n{about}\nFollowJointTrajectory{kind} {kind.lower()}\n"
    return _made(f"control_msgs/FollowJointTrajectoryAction{kind}", definition, PARTS[kind])


def _made(name: str, definition: str, parts: dict[str, str]) -> type:
    require_ros()
    text = definition + "".join(f"{RULE}\nMSG: {part}\n{body}" for part, body in parts.items())
    generator: Any = import_module("genpy.dynamic")
    made: list[str] = []

    def keep(_remove: object, folder: str) -> None:
        made.append(folder)

    # It writes a module to a temporary folder, which it removes when the process ends, unless that is killed.
    later = generator.atexit
    generator.atexit = SimpleNamespace(register=keep)
    try:
        return generator.generate_dynamic(name, text)[name]
    finally:
        generator.atexit = later
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


ACTION = "/arm_controller/follow_joint_trajectory"
GOAL, CANCEL, RESULT = f"{ACTION}/goal", f"{ACTION}/cancel", f"{ACTION}/result"
STATUS, FEEDBACK = f"{ACTION}/status", f"{ACTION}/feedback"
SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS = 0, -1, -2
"""Error codes of a result."""
ACTIVE, PREEMPTED, SUCCEEDED, REJECTED = map(STATES.index, ("ACTIVE", "PREEMPTED", "SUCCEEDED", "REJECTED"))


@dataclass(frozen=True)
class Status:
    """How it stands with a goal."""

    identity: str
    stamp: float
    """When it was sent."""
    state: int
    """One of actionlib's `STATES`."""
    text: str = ""


@dataclass(frozen=True)
class Motion:
    """Positions and velocities of the joints (act,)."""

    positions: Float
    velocities: Float

    def __sub__(self, other: "Motion") -> "Motion":
        """How far it is ahead of another."""
        return Motion(self.positions - other.positions, self.velocities - other.velocities)


def read_goal(received: Any) -> Goal:  # noqa: ANN401
    """What a goal asks for."""
    trajectory = received.goal.trajectory
    points = tuple(
        (float(point.time_from_start.to_sec()), np.array(point.positions, dtype=np.float64))
        for point in trajectory.points
    )
    return Goal(str(received.goal_id.id), tuple(trajectory.joint_names), points, received.goal_id.stamp.to_sec())


def write_goal(goal: Goal) -> Any:  # noqa: ANN401
    """A goal for the arm controller, to be begun at once."""
    made: Any = action_type("Goal")()
    made.header.stamp = made.goal_id.stamp = as_time(goal.stamp)
    made.goal_id.id = goal.identity
    trajectory = made.goal.trajectory
    trajectory.joint_names = list(goal.names)
    trajectory.points = [_point(after, positions) for after, positions in goal.points]
    return made


def read_cancel(received: Any) -> Cancel:  # noqa: ANN401
    """What an actionlib_msgs/GoalID on the cancel topic asks for."""
    return Cancel(str(received.id), received.stamp.to_sec())


def write_result(status: Status, code: int, now: float) -> Any:  # noqa: ANN401
    """What became of a goal."""
    made: Any = action_type("Result")()
    made.header.stamp = as_time(now)
    _fill(made.status, status)
    made.result.error_code, made.result.error_string = code, status.text if code else ""
    return made


def write_statuses(statuses: Iterable[Status], now: float) -> Any:  # noqa: ANN401
    """An actionlib_msgs/GoalStatusArray."""
    made: Any = message("actionlib_msgs/GoalStatusArray")()
    made.header.stamp = as_time(now)
    for status in statuses:
        one = message("actionlib_msgs/GoalStatus")()
        _fill(one, status)
        made.status_list.append(one)
    return made


def write_feedback(
    status: Status, names: Sequence[str], desired: Motion, actual: Motion, since: float, now: float
) -> Any:  # noqa: ANN401
    """How the current goal goes, `since` seconds after it began; the error is how far the arm is ahead of it."""
    made: Any = action_type("Feedback")()
    made.header.stamp = made.feedback.header.stamp = as_time(now)
    _fill(made.status, status)
    feedback = made.feedback
    feedback.joint_names = list(names)
    feedback.desired, feedback.actual, feedback.error = (
        _point(since, motion.positions, motion.velocities) for motion in (desired, actual, actual - desired)
    )
    return made


def _point(after: float, positions: Float, velocities: Float | None = None) -> Any:  # noqa: ANN401
    made = message("trajectory_msgs/JointTrajectoryPoint")()
    made.positions = positions.tolist()
    if velocities is not None:
        made.velocities = velocities.tolist()
    made.time_from_start = as_duration(after)
    return made


def _fill(made: Any, status: Status) -> None:  # noqa: ANN401
    made.goal_id.id, made.goal_id.stamp = status.identity, as_time(status.stamp)
    made.status, made.text = status.state, status.text
