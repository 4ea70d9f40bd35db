"""The bytes are those of ROS 2: they are held against the CDR of the rosbags package, which knows nothing of ours."""

import numpy as np
import pytest

pytest.importorskip("cyclonedds")
rosbags = pytest.importorskip("rosbags.typesys")

from isthmus.hardware.driver import JointReading  # noqa: E402
from isthmus.hardware.ros2 import messages  # noqa: E402
from isthmus.hardware.ros2.bus import mangled  # noqa: E402

JOINTS = ("pan", "lift_joint", "x")
VALUES = np.array([0.25, -1.5, 3e-7])
STORES = [rosbags.Stores.ROS2_FOXY, rosbags.Stores.ROS2_HUMBLE, rosbags.Stores.ROS2_JAZZY]


@pytest.fixture(scope="module", params=STORES, ids=lambda store: store.name)
def types(request):
    return rosbags.get_typestore(request.param)


def made(types, kind, /, **fields):
    return types.types[kind](**fields)


def time_of(types, sec, nanosec):
    return made(types, "builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)


def header(types, sec=0, nanosec=0):
    return made(types, "std_msgs/msg/Header", stamp=time_of(types, sec, nanosec), frame_id="")


def agree(types, name, ours, theirs):
    """Both write the same bytes, and each reads what the other wrote."""
    data = ours.serialize()
    assert data[:4] == bytes([0, 1, 0, 0]), "plain CDR of the first version, little-endian"
    assert bytes(types.serialize_cdr(theirs, name)) == data
    assert type(ours).deserialize(bytes(types.serialize_cdr(theirs, name))) == ours
    assert types.deserialize_cdr(data, name) is not None


def test_joint_states(types):
    ours = messages.write_joints(JointReading(1794.25, JOINTS, VALUES, 2 * VALUES), 3 * VALUES)
    name = "sensor_msgs/msg/JointState"
    fields = {"position": VALUES, "velocity": 2 * VALUES, "effort": 3 * VALUES}
    agree(types, name, ours, made(types, name, header=header(types, 1794, 250_000_000), name=list(JOINTS), **fields))


def test_trajectories(types):
    ours = messages.write_goal(JOINTS, VALUES, 0.1, 5.5)
    none, name = np.zeros(0), "trajectory_msgs/msg/JointTrajectory"
    point = made(
        types,
        "trajectory_msgs/msg/JointTrajectoryPoint",
        positions=VALUES,
        velocities=none,
        accelerations=none,
        effort=none,
        time_from_start=made(types, "builtin_interfaces/msg/Duration", sec=0, nanosec=100_000_000),
    )
    theirs = made(types, name, header=header(types, 5, 500_000_000), joint_names=list(JOINTS), points=[point])
    agree(types, name, ours, theirs)
    empty = made(types, name, header=header(types), joint_names=list(JOINTS), points=[])
    agree(types, name, messages.JointTrajectory(joint_names=list(JOINTS)), empty)


def test_plain_commands(types):
    layout = made(types, "std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
    name = "std_msgs/msg/Float64MultiArray"
    agree(types, name, messages.Float64MultiArray(data=VALUES.tolist()), made(types, name, layout=layout, data=VALUES))


def test_the_small_ones(types):
    agree(types, "std_msgs/msg/Float64", messages.Float64(2.5), made(types, "std_msgs/msg/Float64", data=2.5))
    clock = made(types, "rosgraph_msgs/msg/Clock", clock=time_of(types, 7, 125_000_000))
    agree(types, "rosgraph_msgs/msg/Clock", messages.Clock(messages.as_time(7.125)), clock)
    assert messages.Empty().serialize() == bytes([0, 1, 0, 0, 0])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (messages.JointState, "sensor_msgs::msg::dds_::JointState_"),
        (messages.JointTrajectory, "trajectory_msgs::msg::dds_::JointTrajectory_"),
        (messages.Float64MultiArray, "std_msgs::msg::dds_::Float64MultiArray_"),
        (messages.Empty, "std_msgs::msg::dds_::Empty_"),
    ],
)
def test_types_and_topics_are_called_as_in_ros_2(kind, name):
    assert kind.__idl__.idl_transformed_typename.replace(".", "::") == name
    assert mangled("/arm_controller/joint_trajectory") == "rt/arm_controller/joint_trajectory"


@pytest.mark.parametrize(
    ("moment", "whole", "nano"),
    [(0.0, 0, 0), (1.9999999999, 2, 0), (12.5, 12, 500_000_000), (-0.25, -1, 750_000_000)],
)
def test_time_is_split_into_seconds_and_nanoseconds(moment, whole, nano):
    split = messages.as_time(moment)
    assert (split.sec, split.nanosec) == (whole, nano)
    assert messages.seconds(split) == pytest.approx(moment, abs=1e-9)


def test_a_reading_without_velocities_says_so():
    read = messages.read_joints(messages.JointState(name=["a"], position=[1.0]))
    assert np.isnan(read.velocities).all()
