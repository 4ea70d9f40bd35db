import json

import numpy as np
import pytest

from isthmus.cli.main import main
from isthmus.logs import apply, read_log, read_map

PENDULUM = """
<mujoco>
  <worldbody>
    <body><joint name="swing" axis="0 1 0"/><geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.4" mass="1"/></body>
  </worldbody>
  <actuator><motor joint="swing" gear="2"/></actuator>
</mujoco>
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A pendulum and a log of it: negated, in degrees, with its zero 30 degrees off."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.xml").write_text(PENDULUM)
    time = np.arange(0, 8, 0.01)
    angle = 0.9 * np.sin(2 * np.pi * 0.4 * time) + 0.3 * np.sin(2 * np.pi * 1.1 * time) + 0.2
    change = np.gradient(np.gradient(angle, 0.01), 0.01)
    inertia = 1 * 0.4**2 / 3 + 0.02**2 / 4
    torque = (inertia * change + 9.81 * 0.2 * np.sin(angle)) / 2
    shown = -np.rad2deg(angle) + 30
    rows = "".join(f"{t:.3f},{q:.5f},{u:.6f}\n" for t, q, u in zip(time, shown, torque, strict=True))
    (tmp_path / "log.csv").write_text("time,encoder_pos,motor_torque_cmd\n" + rows)
    return tmp_path


def test_a_log_is_mapped_and_the_map_applies(folder, capsys):
    main(["logs", "map", "log.csv", "--robot", "pendulum.xml"])
    said = capsys.readouterr().out
    assert "swing" in said
    assert "deg" in said
    log_map = read_map(folder / "robot.logmap.toml")
    found = apply(log_map, read_log(folder / "log.csv"))
    # Which way is positive cannot be told of a single pendulum but by its command, which knows it.
    assert log_map.joints[0].position.sign == -1
    assert log_map.joints[0].position.offset == pytest.approx(np.pi / 6, abs=0.03)
    assert found.joints == ("swing",)
    with pytest.raises(SystemExit) as stop:
        main(["logs", "map", "log.csv", "--robot", "pendulum.xml"])
    assert stop.value.code == 2
    assert "--force" in capsys.readouterr().err


def test_as_json(folder, capsys):
    main(["logs", "map", "log.csv", "--robot", "pendulum.xml", "--out", "m.toml", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["map"]["joints"][0]["name"] == "swing"
    assert set(found["joints"][0]["confidence"]) >= {"sign", "offset"}


@pytest.mark.parametrize("robot", ["none.xml", "log.xml", "no-such-task"])
def test_a_robot_that_is_none_is_one_sentence(folder, capsys, robot):
    (folder / "log.xml").write_text("no model")
    with pytest.raises(SystemExit) as stop:
        main(["logs", "map", "log.csv", "--robot", robot])
    assert stop.value.code == 2
    assert capsys.readouterr().err.strip().count("\n") == 0
    assert not (folder / "robot.logmap.toml").exists()
