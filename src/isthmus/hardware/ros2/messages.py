"""The ROS 2 messages of a robot's joints as DDS has them, to and from plain arrays.

A message type in ROS 2 is an IDL struct: its name, the order of its fields and their types decide whether two nodes
understand each other. A test holds the bytes against another implementation of the same format.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from cyclonedds.idl import IdlStruct

from isthmus.core import Float
from isthmus.hardware.driver import JointReading

if TYPE_CHECKING:  # what these are in Python; at run time they say how many bytes a number has
    sequence = list
    float64 = float
    int32 = int
    uint32 = int
    uint8 = int
else:
    from cyclonedds.idl.types import float64, int32, sequence, uint8, uint32


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    """A point in time."""

    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Duration(IdlStruct, typename="builtin_interfaces::msg::dds_::Duration_"):
    """A length of time."""

    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    """When, and in which frame."""

    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    """What a robot tells of its joints."""

    header: Header = field(default_factory=Header)
    name: sequence[str] = field(default_factory=list[str])
    position: sequence[float64] = field(default_factory=list[float])
    velocity: sequence[float64] = field(default_factory=list[float])
    effort: sequence[float64] = field(default_factory=list[float])


@dataclass
class JointTrajectoryPoint(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectoryPoint_"):
    """Where the joints are to be at one time."""

    positions: sequence[float64] = field(default_factory=list[float])
    velocities: sequence[float64] = field(default_factory=list[float])
    accelerations: sequence[float64] = field(default_factory=list[float])
    effort: sequence[float64] = field(default_factory=list[float])
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
class JointTrajectory(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectory_"):
    """Where the joints are to be; without points, where they are."""

    header: Header = field(default_factory=Header)
    joint_names: sequence[str] = field(default_factory=list[str])
    points: sequence[JointTrajectoryPoint] = field(default_factory=list[JointTrajectoryPoint])


@dataclass
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    """One dimension of an array."""

    label: str = ""
    size: uint32 = 0
    stride: uint32 = 0


@dataclass
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    """How an array lies in its data; all of it in one row where nothing is said."""

    dim: sequence[MultiArrayDimension] = field(default_factory=list[MultiArrayDimension])
    data_offset: uint32 = 0


@dataclass
class Float64MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    """Numbers, one a joint, as forward command controllers take them."""

    layout: MultiArrayLayout = field(default_factory=MultiArrayLayout)
    data: sequence[float64] = field(default_factory=list[float])


@dataclass
class Float64(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    """A number."""

    data: float64 = 0.0


@dataclass
class Empty(IdlStruct, typename="std_msgs::msg::dds_::Empty_"):
    """Nothing; IDL has no struct without a member, and ROS 2 gives it this one."""

    structure_needs_at_least_one_member: uint8 = 0


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    """The time of a simulation."""

    clock: Time = field(default_factory=Time)


STOP = "/isthmus/stop"
"""Anybody may publish here (std_msgs/Empty) to have the robot hold where it is."""
HOLD = "/isthmus/hold"
"""Where every hold is told (std_msgs/Empty), for a robot whose own controller listens."""
CLOCK = "/isthmus/clock"
"""The time of a stand-in that is not the wall's. Not `/clock`: a simulator elsewhere in the domain may publish there,
and a real robot must not be taken for a simulated one by that."""
SPEED = "/isthmus/speed"
"""Where a stand-in learns how fast its time is to go (std_msgs/Float64); a real robot does not listen."""


def read_joints(received: JointState) -> JointReading:
    """What a sensor_msgs/JointState says; velocities are not a number where it has none."""
    positions = np.array(received.position, dtype=np.float64)
    velocities = np.array(received.velocity, dtype=np.float64)
    if velocities.shape != positions.shape:
        velocities = np.full_like(positions, np.nan)
    return JointReading(seconds(received.header.stamp), tuple(received.name), positions, velocities)


def write_joints(reading: JointReading, efforts: Float) -> JointState:
    """A sensor_msgs/JointState."""
    return JointState(
        Header(as_time(reading.stamp)),
        list(reading.names),
        reading.positions.tolist(),
        reading.velocities.tolist(),
        efforts.tolist(),
    )


def write_goal(joints: Sequence[str], values: Float, after: float, stamp: float) -> JointTrajectory:
    """A trajectory of one point, to be reached `after` so many seconds; a stamp of 0 has it begin at once."""
    point = JointTrajectoryPoint(positions=values.tolist(), time_from_start=as_duration(after))
    return JointTrajectory(Header(as_time(stamp)), list(joints), [point])


def seconds(moment: Time | Duration) -> float:
    """In seconds."""
    return moment.sec + 1e-9 * moment.nanosec


def as_time(moment: float) -> Time:
    """A point in time."""
    return Time(*_split(moment))


def as_duration(length: float) -> Duration:
    """A length of time."""
    return Duration(*_split(length))


def _split(number: float) -> tuple[int, int]:
    whole = math.floor(number)
    nano = round(1e9 * (number - whole))
    return (whole + 1, 0) if nano >= 10**9 else (whole, nano)
