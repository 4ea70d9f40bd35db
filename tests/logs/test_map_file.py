import pytest

from isthmus.core import Problem
from isthmus.logs import read_map, write_map
from isthmus.logs.log_map import ActuatorSource, JointSources, LogMap, ObservationSource, Source

MAP = LogMap(
    joints=(
        JointSources(
            "hip", Source("/states.position", 3, -1, 0.017453292519943295, 0.25), Source("/states.velocity", 3)
        ),
        JointSources('odd "name"\n', Source("/states.position", 0, 1, 0.37, -1.5), torque=Source("tau", 1, 1, 1e-3)),
    ),
    actuators=(ActuatorSource("hip motor", "hip", Source("/goal", 2, -1, 1.0, 0.1), kp=40.0, kd=0.5),),
    observations=(ObservationSource("roll", Source("imu", 0)),),
    command_kind="effort",
    command_delay=0.0042,
    rate=200.0,
    enabled=Source("on", 0),
    episode=Source("episode_index", 0),
    robot="my_robot.py",
)


def test_a_map_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "robot.logmap.toml"
    write_map(path, MAP, ("found in a log\nof two lines",), {"hip": "not sure: sign"})
    assert read_map(path) == MAP
    text = path.read_text()
    assert 'unit = "deg"' in text
    assert "[[joint]]  # not sure: sign" in text


def edited(tmp_path, old, new):
    path = tmp_path / "robot.logmap.toml"
    write_map(path, MAP)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('unit = "deg"', 'unit = "degrees"', "unknown unit 'degrees'"),
        ('unit = "deg"', "scale = 0.0", "a scale is a positive number"),
        ("sign = -1", "sign = 0", "a sign is 1 or -1"),
        ("column = 3", "column = -3", "columns count from 0"),
        ("column = 3", 'column = "three"', "a whole number"),
        ("offset = 0.25", "offset = nan", "an offset is a finite number"),
        ("offset = 0.25", f"offset = 1{'0' * 400}", "not a map"),
        ("rate = 200.0", "rate = -5.0", "a rate is between"),
        ('commands = "effort"', 'commands = "wish"', "unknown kind of commands"),
        ('joint = "hip"', 'joint = "knee"', "unknown joint of the actuator"),
        ("version = 1", "version = 2", "version"),
        ("version = 1", "version = 1\nspeed = 3", "speed"),
        ("[[joint]]", "[[joint", "TOML"),
        ("version = 1", f"{'a.' * 400}a = 1", "more than 600 characters"),
    ],
)
def test_what_is_wrong_in_a_map_is_named(tmp_path, old, new, said):
    with pytest.raises(Problem, match=said):
        read_map(edited(tmp_path, old, new))


def test_a_joint_is_mapped_once():
    with pytest.raises(Problem, match="'hip' is mapped twice"):
        LogMap((MAP.joints[0], MAP.joints[0]))


def test_a_map_that_is_not_there_says_how_to_make_one(tmp_path):
    with pytest.raises(Problem, match="isthmus logs map"):
        read_map(tmp_path / "none.toml")
