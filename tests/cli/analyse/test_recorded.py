"""Logs as the commands that compare them with a robot read them, without a map."""

import json

import mujoco
import numpy as np
import pytest

from isthmus.cli.analyse.recorded import load_recorded

PENDULUM = """
<mujoco><worldbody>{free}<joint name="hinge" axis="0 1 0" damping="0.05" armature="0.01"/>
  <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.2" mass="0.4"/>{end}</worldbody>
  <actuator><position joint="hinge" kp="3" kv="0.2"/></actuator></mujoco>
"""
FREE = '<body><freejoint/><geom size="0.05" mass="2"/><body name="link">', "</body></body>"


@pytest.fixture
def robot(tmp_path):
    def write(*, free=False):
        begin, end = FREE if free else ('<body name="link">', "</body>")
        (tmp_path / "robot.xml").write_text(PENDULUM.format(free=begin, end=end))
        return str(tmp_path / "robot.xml")

    return write


def moved(seconds, size):
    """Times, angles and goals of the pendulum."""
    model = mujoco.MjModel.from_xml_string(PENDULUM.format(free='<body name="link">', end="</body>"))
    data, rows = mujoco.MjData(model), []
    while data.time < seconds:
        data.ctrl[0] = size * (np.sin(4 * data.time) + 0.5 * np.sin(11 * data.time))
        mujoco.mj_step(model, data)
        rows.append((data.time, data.qpos[0], data.ctrl[0]))
    return np.array(rows)[::5]


def write(path, rows, **more):
    entries = [{"time": t, "angle": q, "goal_angle": u, **more.get("row", {})} for t, q, u in rows.tolist()]
    path.write_text(json.dumps({**more.get("meta", {}), "entries": entries}))
    return path


def test_a_first_log_that_tells_nothing_does_not_decide_about_the_map(robot, tmp_path):
    still = moved(4.0, 0.4)
    still[:, 1] = 1e-4 * np.random.default_rng(0).normal(size=len(still))  # the drive was off
    first, second = write(tmp_path / "a.json", still), write(tmp_path / "b.json", moved(6.0, 0.6))
    found = load_recorded([first, second], robot(), None, (), ())
    assert found.recording.actuators == ("hinge",)
    assert np.abs(found.recording.command).max() > 0.5


def test_a_command_that_nothing_followed_is_still_that_of_its_joint(robot, tmp_path):
    still = moved(4.0, 0.4)
    still[:, 1] = 0.05 * np.sin(0.7 * still[:, 0])
    found = load_recorded([write(tmp_path / "a.json", still)], robot(), None, (), ())
    np.testing.assert_allclose(found.recording.command[:100, 0], still[:100, 2], atol=0.05)
    assert any("not sure" in note for note in found.notes)


def test_a_zero_that_is_a_little_off_is_left_to_what_is_made_of_the_log(robot, tmp_path):
    """A robot that stands at an angle passes for one whose sensor is off."""
    rows = moved(6.0, 0.6)
    rows[:, 1:] += 0.15  # the drive's own sensor
    found = load_recorded([write(tmp_path / "a.json", rows)], robot(), None, (), ())
    assert found.recording.position[:, 0].mean() == pytest.approx(rows[:, 1].mean(), abs=0.01)
    assert found.recording.command[:, 0].mean() == pytest.approx(rows[:, 2].mean(), abs=0.01)


def test_logs_of_different_settings_are_pointed_out(robot, tmp_path):
    rows = moved(4.0, 0.6)
    logs = [
        write(tmp_path / f"{kp}.json", rows * [1, scale, scale], meta={"kp": kp, "mass": 0.4})
        for kp, scale in ((100, 1.0), (400, 0.9))
    ]
    found = load_recorded(logs, robot(), None, (), ())
    [said] = [note for note in found.notes if "different" in note]
    assert "different kp (100, 400)" in said


@pytest.mark.parametrize("size", [0.0, 0.5])
def test_a_base_that_moves_is_pointed_out(size, robot, tmp_path):
    rows = moved(4.0, 0.6)
    log = tmp_path / "log.csv"
    rolls = size * np.sin(3 * rows[:, 0])
    lines = [f"{t},{q},{u},{roll}" for (t, q, u), roll in zip(rows.tolist(), rolls.tolist(), strict=True)]
    log.write_text("\n".join(["time,angle,goal_angle,imu_roll", *lines]))
    found = load_recorded([log], robot(free=True), None, (), ())
    assert any("base moves in these logs (imu_roll)" in note for note in found.notes) == bool(size)
