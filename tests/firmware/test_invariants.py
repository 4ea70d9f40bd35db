"""Invariants are judged from outside, and each on its own."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.invariants import DEFAULTS, Expectation, drives, judge, lasting, limits_of
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.seen import Seen, attitude_error, data_age_ms

STEPS, JOINTS, FRAMES = 3000, 3, 150
LIMITS = DEFAULTS | {
    "max_torque": 20.0,
    "max_joint_speed": 30.0,
    "max_data_age_ms": 6.0,
    "max_instructions_per_ms": 4000.0,
}
TIME = np.arange(1, STEPS + 1) * 1e-3
TOLD = np.arange(1, FRAMES + 1) * 0.02


def quiet() -> Seen:
    """A run in which all is well: a motor holds 5 N m, another is at rest, a third is damped."""
    asked = np.tile([5.0, 0.0, -1.4], (STEPS, 1))
    return Seen(
        time=TIME,
        asked=asked,
        joint_velocity=np.tile([0.0, 0.0, 0.7], (STEPS, 1)),
        command_age=np.full((STEPS, JOINTS), 2e-3),
        upright=np.full(STEPS, 0.98),
        told_time=TOLD,
        attitude_error=np.full(FRAMES, 0.02),
        joint_error=np.full((FRAMES, JOINTS), 0.01),
        velocity_error=np.full((FRAMES, JOINTS), 0.03),
        estop=np.zeros(FRAMES),
        data_age_at=np.array([2.5]),
        data_age_ms=np.array([4.5]),
        instructions_per_ms=3000.0,
    )


def changed(name: str, rows: slice, value: float, column: int | None = None) -> Seen:
    """A quiet run with one array wrong for some rows."""
    values = getattr(quiet(), name).copy()
    values[rows if column is None else (rows, column)] = value
    return replace(quiet(), **{name: values})


def names(seen: Seen, expect: Expectation | None = None) -> list[str]:
    """Which invariants did not hold."""
    return [violation.name for violation in judge(seen, LIMITS, expect)]


def test_a_quiet_run_violates_nothing() -> None:
    assert names(quiet()) == []


@pytest.mark.parametrize(
    ("name", "value", "violated"),
    [
        ("asked", -21.0, "max_torque"),
        ("joint_velocity", 31.0, "max_joint_speed"),
        ("command_age", 0.012, "max_command_age_ms"),
        ("upright", 0.65, "min_upright"),
        ("attitude_error", 0.13, "max_attitude_error"),
        ("joint_error", -0.2, "max_joint_error"),
        ("velocity_error", 0.2, "max_velocity_error"),
        ("estop", 2.0, "allow_estop"),
    ],
)
def test_each_array_has_its_invariant(name: str, value: float, violated: str) -> None:
    of_frames = len(getattr(quiet(), name)) == FRAMES
    rows = slice(60, None) if of_frames else slice(1500, 1520)
    found = judge(changed(name, rows, value), LIMITS)
    assert [violation.name for violation in found] == [violated]
    assert found[0].figure == pytest.approx(abs(value) * (1e3 if name == "command_age" else 1))


def test_nothing_but_torques_is_judged_before_the_robot_has_settled() -> None:
    assert names(changed("attitude_error", slice(0, 40), 1.0)) == []
    assert names(changed("asked", slice(0, 40), 30.0)) == ["max_torque"]


def test_one_corrupted_frame_is_no_violation() -> None:
    assert names(changed("asked", slice(1500, 1502), 30.0)) == []
    assert names(changed("joint_error", slice(80, 81), 3.0, 1)) == []


def test_a_motor_that_holds_after_a_stop_is_driven_and_one_that_damps_is_not() -> None:
    late = judge(quiet(), LIMITS, Expectation(stop_at=2.0))
    assert [violation.name for violation in late] == ["estop_ms"]
    assert late[0].at_s == pytest.approx(2.15 + 0.019, abs=2e-3)
    stopped = changed("asked", slice(2100, None), 0.3, 0)
    assert names(stopped, Expectation(stop_at=2.0)) == []
    assert names(quiet(), Expectation(stop_at=2.0, deaf=(0,))) == []


def test_damping_opposes_motion_and_is_bounded() -> None:
    asked, velocity = np.array([[3.0, 3.0, -3.0, -12.0, 0.8]]), np.array([[1.0, -1.0, 1.0, 1.0, 0.0]])
    assert drives(asked, velocity).tolist() == [[True, False, False, True, False]]


def test_what_a_case_excuses_is_not_reported() -> None:
    seen = changed("upright", slice(2000, None), 0.1)
    assert names(seen, Expectation(excused=("min_upright",))) == []
    assert names(seen, Expectation(blind=((1.9, 3.1),))) == []
    assert names(seen, Expectation(blind=((1.9, 2.5),))) == ["min_upright"]


def test_a_motor_that_never_heard_a_command_has_waited_since_power_on() -> None:
    assert names(changed("command_age", slice(None), np.nan, 2)) == ["max_command_age_ms"]


def test_processor_limits() -> None:
    assert names(replace(quiet(), instructions_per_ms=4001.0)) == ["max_instructions_per_ms"]
    assert names(replace(quiet(), watchdog_resets=1)) == ["allow_watchdog"]
    assert names(replace(quiet(), data_age_ms=np.array([6.1]))) == ["max_data_age_ms"]


def test_lasting_counts_rows_in_a_row() -> None:
    wrong = np.array([[1, 0], [1, 1], [0, 1], [1, 1], [1, 0], [1, 0]], bool)
    assert lasting(wrong, 3)[:, 0].tolist() == [False, False, False, False, False, True]
    assert lasting(wrong, 3)[:, 1].tolist() == [False, False, False, True, False, False]


def test_the_attitude_error_leaves_heading_out() -> None:
    half = np.deg2rad(40) / 2
    yaw = np.array([[np.cos(half), 0, 0, np.sin(half)]])
    roll = np.array([[np.cos(half), np.sin(half), 0, 0]])
    level = np.array([[1.0, 0, 0, 0]])
    assert attitude_error(yaw, level)[0] == pytest.approx(0, abs=1e-7)
    assert attitude_error(roll, level)[0] == pytest.approx(np.deg2rad(40))


def test_the_age_of_joint_angles_follows_from_their_lag() -> None:
    rng = np.random.default_rng(0)
    velocity = rng.normal(0, 1.5, (FRAMES, JOINTS))
    lag = 0.0043 * velocity + rng.normal(0, 2e-4, velocity.shape)
    lag[7, 1] = 3.0  # a corrupted frame
    ends, ages = data_age_ms(lag, velocity, TOLD)
    assert len(ends) == 1
    assert ages[0] == pytest.approx(4.3, abs=0.1)
    assert len(data_age_ms(lag, 0.01 * velocity, TOLD)[1]) == 0  # nothing moves: nothing can be said


def test_limits_come_from_the_board() -> None:
    limits = limits_of(load_board(FOLDER / "quadruped.toml"))
    assert limits["max_torque"] == 23.0
    assert limits["max_data_age_ms"] == 7.0
    assert limits["min_upright"] == DEFAULTS["min_upright"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_torqe = 3", "max_torque"),
        ("allow_estop = 3", "true or false"),
        ("max_torque = -3", "at least 0"),
        ("min_upright = 5", "from -1 to 1"),
    ],
)
def test_an_unknown_or_wrong_invariant_is_a_problem(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "board.toml"
    file.write_text(
        f"[board]\n[cpu]\n[memory]\nflash = [0x08000000, 0x1000]\nram = [0x20000000, 0x1000]\n[invariants]\n{text}\n"
    )
    with pytest.raises(Problem, match=said):
        limits_of(load_board(file))
