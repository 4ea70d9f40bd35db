"""A target is a value: every kind is parsed, printed, stored and made in one place."""

import json
import re
from typing import get_args

import pytest

from isthmus.core import Problem
from isthmus.hardware.ros1 import Address
from isthmus.io import write_json
from isthmus.transfer import Config
from isthmus.transfer.targets.make import MAKERS
from isthmus.transfer.targets.spec import KINDS, Kind, TargetSpec

EXAMPLES = [
    TargetSpec(),
    TargetSpec("gap", "tilt=90"),
    TargetSpec("gap", "gravity=1.2,mass:torso=1.3"),
    TargetSpec("gap", "random:7"),
    TargetSpec("gym", "Hopper-v5"),
    TargetSpec("gym", "my_envs:Arm-v0"),
    TargetSpec("gym", "my_envs:Arm"),
    TargetSpec("gym", "real_arm.py"),
    TargetSpec("gym", "/home/me/a:b=c/real_arm.py"),
    TargetSpec("gym", "ros:strange.py"),
    TargetSpec("gym", "gap:strange-v0"),
    TargetSpec("ros", "//127.0.0.1:11311"),
    TargetSpec("ros", "//robot.local:4711"),
    TargetSpec("ros2", "//0/arm_controller"),
    TargetSpec("ros2", "//42@eth0/left/arm/commands"),
    TargetSpec("udp", "//10.0.0.5:9870"),
    TargetSpec("firmware", "boards/weak_leg.toml"),
    TargetSpec("logs", "recorded"),
]


def test_every_kind_has_an_example_and_can_be_made():
    assert {one.kind for one in EXAMPLES} == set(KINDS) == set(get_args(Kind)) == MAKERS.keys()


@pytest.mark.parametrize("target", EXAMPLES, ids=str)
def test_what_is_printed_is_parsed_to_the_same(target):
    assert TargetSpec.parse(str(target)) == target


@pytest.mark.parametrize("target", EXAMPLES, ids=str)
def test_the_options_of_a_command_ask_for_the_same(target):
    [option] = target.options
    assert option in ("gap", "target", "robot")
    assert TargetSpec.of_options(**target.options) == target


@pytest.mark.parametrize("target", EXAMPLES, ids=str)
def test_a_configuration_holds_it_and_its_file_too(target, tmp_path):
    config = Config("reacher", target.gap, environment=target.environment)
    assert config.target == target
    write_json(tmp_path / "config.json", config.to_json())
    assert Config.load(tmp_path / "config.json") == config
    assert Config.load(tmp_path / "config.json").target == target


@pytest.mark.parametrize(
    ("gap", "environment", "target"),
    [
        ("tilt=90", None, TargetSpec("gap", "tilt=90")),
        ("none", "arm.py", TargetSpec("gym", "arm.py")),
        ("none", "ros://127.0.0.1:11311", TargetSpec("ros", "//127.0.0.1:11311")),
    ],
)
def test_the_file_is_that_of_earlier_versions(gap, environment, target, tmp_path):
    """They wrote a gap and an environment, and read them."""
    written = Config("reacher").to_json() | {"gap": gap, "environment": environment}
    write_json(tmp_path / "config.json", written)
    config = Config.load(tmp_path / "config.json")
    assert config.target == target
    assert json.loads(json.dumps(config.to_json())) == json.loads(json.dumps(written))


def test_only_the_task_s_own_robot_is_simulated_and_only_a_robot_has_an_address():
    assert [one.kind for one in EXAMPLES if one.simulated] == ["gap"] * 4
    assert {one.address for one in EXAMPLES if not one.is_robot} == {None}
    assert TargetSpec.parse("ros://here").address == Address("here")
    assert str(TargetSpec.parse("ros://here")) == "ros://here:11311"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("firmwre:board.toml", "unknown kind of target 'firmwre': choose from firmware, gap, gym, logs, ros"),
        ("gm:Hopper", "did you mean 'gym'"),
        ("my_envs:Arm", "give an environment's id or Python file, gym:ID"),
        ("", "names no target"),
        ("gym:", "'gym:' names no target"),
        ("ros:", "is no address of a robot"),
        ("ros://a/b", "is no address of a robot"),
    ],
)
def test_a_text_that_names_no_target_is_refused_with_the_kinds(text, said):
    with pytest.raises(Problem, match=re.escape(said)):
        TargetSpec.parse(text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "a.py", "robot": "ros://b"}, "a robot and an environment are two targets"),
        ({"gap": "tilt=9", "target": "a.py"}, "give it, or a gap, not both"),
        ({"gap": "tilt=9", "robot": "ros://b"}, "give it, or a gap, not both"),
        ({"robot": "here"}, "is no address of a robot"),
    ],
)
def test_options_that_ask_for_two_targets_are_refused(options, said):
    with pytest.raises(Problem, match=re.escape(said)):
        TargetSpec.of_options(**options)
