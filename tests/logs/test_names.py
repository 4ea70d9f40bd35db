import pytest

from isthmus.logs.names import match_names
from isthmus.logs.roles import role_of

LEGS = tuple(f"{leg}_{part}_joint" for leg in ("FL", "RR") for part in ("hip", "thigh", "calf"))


@pytest.mark.parametrize(
    ("labels", "joints", "expected"),
    [
        (("rr_calf", "fl_hip", "LF_HFE", "frontLeftKnee", "RH thigh", "motor_rr_hip.q"), LEGS, [1, 2, 3, 5, 4, 0]),
        (("elbow.pos", "shoulder_pan.pos"), ("arm_shoulder_pan", "arm_elbow"), [1, 0]),
        (("j_2", "j_1"), ("arm_joint_1", "arm_joint_2"), [1, 0]),
        (("0", "1", "2"), ("hip", "knee", "ankle"), [None, None, None]),
        (("q_0", "q_1"), ("joint1", "joint2"), [None, None]),
        (("theta", "alpha"), ("arm", "pendulum"), [None, None]),
    ],
)
def test_names_mean_joints_however_they_are_written(labels, joints, expected):
    assert match_names(labels, joints) == expected


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("/joint_states.position", "position"),
        ("dof_vel", "velocity"),
        ("des_dof_pos", "command"),
        ("des_dof_vel", ""),
        ("goal_position", "command"),
        ("tau_measured", "torque"),
        ("voltage_command", "command"),
        ("voltage_applied", ""),
        ("torque_enable", ""),
        ("body_angular_vel", ""),
        ("action", "command"),
        ("observation.state", "position"),
    ],
)
def test_names_of_series_tell_their_role(name, role):
    assert role_of(name) == role
