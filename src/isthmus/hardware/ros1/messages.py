"""The messages of a Fetch's joints and of its clock, to and from plain arrays."""

from importlib import import_module
from typing import Any

import numpy as np

from isthmus.core import Float
from isthmus.hardware.driver import JointReading
from isthmus.hardware.ros1.bindings import message

JOINT_STATES = "/joint_states"
CLOCK = "/clock"
STOP = "/isthmus/stop"
"""Anybody may publish here to have the arm hold where it is."""
SPEED = "/isthmus/speed"
"""Where a stand-in learns how fast its time is to go; a real robot does not listen."""


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
    made.header.stamp = as_time(reading.stamp)
    made.name = list(reading.names)
    made.position, made.velocity = reading.positions.tolist(), reading.velocities.tolist()
    made.effort = efforts.tolist()
    return made


def write_clock(now: float) -> Any:  # noqa: ANN401
    """A rosgraph_msgs/Clock."""
    made = message("rosgraph_msgs/Clock")()
    made.clock = as_time(now)
    return made


def as_time(seconds: float) -> Any:  # noqa: ANN401
    """A point in ROS time."""
    return import_module("genpy").Time.from_sec(seconds)


def as_duration(seconds: float) -> Any:  # noqa: ANN401
    """A length of ROS time."""
    return import_module("genpy").Duration.from_sec(seconds)
