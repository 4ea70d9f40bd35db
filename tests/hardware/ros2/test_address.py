import pytest

from isthmus.core import Problem
from isthmus.hardware.ros2 import Ros2Address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ros2://0", Ros2Address(0)),
        ("ros2://42/arm", Ros2Address(42, "", "arm")),
        ("ros2://42@eth0/left/arm", Ros2Address(42, "eth0", "left/arm")),
        ("ros2://1@192.168.1.5/arm/commands/", Ros2Address(1, "192.168.1.5", "arm/commands")),
    ],
)
def test_an_address_is_parsed_and_printed(text, address):
    assert Ros2Address.parse(text) == address
    assert Ros2Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["ros2://", "ros2://arm", "ros2://233", "ros2://0@<x>/a", "ros2://0/a b", "ros://0"])
def test_another_text_is_none(text):
    with pytest.raises(Problem, match=r"ROS 2"):
        Ros2Address.parse(text)


def test_topics_are_those_of_the_controller():
    arm = Ros2Address.parse("ros2://0/arm_controller")
    assert arm.topic("position") == "/arm_controller/joint_trajectory"
    assert arm.topic("effort") == "/arm_controller/commands"
    assert arm.joint_states == "/joint_states"
    left = Ros2Address.parse("ros2://0/left/arm/commands")
    assert left.topic("position") == left.topic("effort") == "/left/arm/commands"
    assert left.joint_states == "/left/joint_states"


def test_only_the_loopback_is_local():
    assert Ros2Address.parse("ros2://0@lo").local
    assert not Ros2Address.parse("ros2://0").local
