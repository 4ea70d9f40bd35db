"""The types of the messages with which a Fetch's arm is sent along a trajectory.

Debian has no package of control_msgs. A message type in ROS is its definition, and what connects two nodes is a
checksum over it: the definitions are given here, and a test holds their checksums against those of a real robot's.
"""

import shutil
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from isthmus.hardware.ros1.bindings import require_ros

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
GOAL_PARTS = {
    **HEADED,
    **TRAJECTORY_POINT,
    "control_msgs/FollowJointTrajectoryGoal": "trajectory_msgs/JointTrajectory trajectory\n"
    "JointTolerance[] path_tolerance\nJointTolerance[] goal_tolerance\nduration goal_time_tolerance\n",
    "trajectory_msgs/JointTrajectory": "Header header\nstring[] joint_names\nJointTrajectoryPoint[] points\n",
    "control_msgs/JointTolerance": "string name\nfloat64 position\nfloat64 velocity\nfloat64 acceleration\n",
}
RESULT_PARTS = {
    **HEADED,
    **GOAL_STATUS,
    "control_msgs/FollowJointTrajectoryResult": "int32 error_code\nint32 SUCCESSFUL = 0\nint32 INVALID_GOAL = -1\n"
    "int32 INVALID_JOINTS = -2\nint32 OLD_HEADER_TIMESTAMP = -3\nint32 PATH_TOLERANCE_VIOLATED = -4\n"
    "int32 GOAL_TOLERANCE_VIOLATED = -5\nstring error_string\n",
}
FEEDBACK_PARTS = {
    **HEADED,
    **GOAL_STATUS,
    **TRAJECTORY_POINT,
    "control_msgs/FollowJointTrajectoryFeedback": "Header header\nstring[] joint_names\n"
    "trajectory_msgs/JointTrajectoryPoint desired\ntrajectory_msgs/JointTrajectoryPoint actual\n"
    "trajectory_msgs/JointTrajectoryPoint error\n",
}


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


@cache
def feedback_type() -> type:
    """control_msgs/FollowJointTrajectoryActionFeedback."""
    return _made(
        "control_msgs/FollowJointTrajectoryActionFeedback",
        "Header header\nactionlib_msgs/GoalStatus status\nFollowJointTrajectoryFeedback feedback\n",
        FEEDBACK_PARTS,
    )


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
