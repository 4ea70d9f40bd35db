"""Which series are positions and commands, where names say little."""

from pathlib import Path

import numpy as np
import pytest

from isthmus.logs.columns import by_prefix
from isthmus.logs.roles import find_roles
from isthmus.logs.series import make_log
from isthmus.logs.units import guess_unit, kind_of

TIME = np.arange(200) * 0.01
JOINTS = ("shoulder", "elbow")


def roles(joints=JOINTS, **columns):
    waves = {
        name: scale * np.sin((1 + n) * 3 * TIME) + shift for n, (name, (scale, shift)) in enumerate(columns.items())
    }
    found = find_roles(make_log(Path("log.csv"), "CSV", by_prefix(waves, TIME)), joints, {})
    return {role: tuple(cell.label for cell in cells) for role, cells in found.columns.items() if cells}, found


def test_columns_that_are_called_as_joints_are_positions():
    found, _ = roles(time_left=(1, 0), elbow=(1, 0), shoulder=(1, 0), shoulder_cmd=(1, 0), elbow_cmd=(1, 0))
    assert found == {"position": ("shoulder", "elbow"), "command": ("shoulder_cmd", "elbow_cmd")}


def test_a_joint_may_be_called_as_something_else_that_is_measured():
    joints = ("base_yaw", "foot_roll")
    found, _ = roles(joints, pos_base_yaw=(1, 0), pos_foot_roll=(1, 0), base_yaw_cmd=(1, 0), base_speed=(1, 0))
    assert found == {"position": ("pos_base_yaw", "pos_foot_roll"), "command": ("base_yaw_cmd",)}
    found, _ = roles(joints, base_yaw=(1, 0), foot_roll=(1, 0), base_height=(1, 0))
    assert found == {"position": ("base_yaw", "foot_roll")}


def test_a_unit_says_what_is_measured():
    found, _ = roles(shoulder_deg=(40, 0), elbow_deg=(40, 0), shoulder_rad_s=(1, 0), elbow_rad_s=(1, 0))
    assert found == {"position": ("shoulder_deg", "elbow_deg"), "velocity": ("shoulder_rad_s", "elbow_rad_s")}


def test_what_was_measured_beside_what_was_desired():
    found, _ = roles(actual_0=(1, 0), actual_1=(1, 0), desired_0=(1, 0), desired_1=(1, 0))
    assert found == {"position": ("actual_0", "actual_1"), "command": ("desired_0", "desired_1")}


@pytest.mark.parametrize(("name", "kind"), [("torque", "effort"), ("motor_current", "effort"), ("voltage", "voltage")])
def test_what_has_a_sign_can_have_driven_the_robot(name, kind):
    found, said = roles(("hinge",), angle=(1, 0), **{name: (2, 0.5)})
    assert found == {"position": ("angle",), "command": (name,)}
    assert said.command_kind == kind


def test_what_has_no_sign_has_not_driven_it():
    found, _ = roles(("hinge",), angle=(1, 0), battery_voltage=(0.1, 12))
    assert found == {"position": ("angle",)}


@pytest.mark.parametrize(
    ("name", "kind", "unit"),
    [
        ("Elbow Position [deg]", "position", "deg"),
        ("joint vel (deg/s)", "velocity", "deg/s"),
        ("shoulder_rad_s", "velocity", "rad/s"),
        ("knee.torque [Nm]", "torque", "N m"),
        ("u [V]", "voltage", "V"),
        ("/joint_states.velocity", "velocity", "rad/s"),
        ("q[0]", "position", "rad"),
    ],
)
def test_units_in_names(name, kind, unit):
    assert kind_of(name) == kind
    assert guess_unit(name, np.array([[0.2], [0.5]])).unit == unit
