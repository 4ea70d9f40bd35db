"""From a robot's logs to its physics, its gap and a policy for it."""

import json

import mujoco
import numpy as np
import pytest

from isthmus.cli import main

MODEL = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="bob" pos="0 0 1">
      <joint name="swing" type="hinge" axis="0 1 0" damping="0.03" armature="0.002"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.03 0 -0.35" mass="0.4" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="swing" gear="1.6" ctrlrange="-1 1" ctrllimited="true"/></actuator>
</mujoco>
"""
MAP = """
version = 1
commands = "effort"

[[joint]]
name = "swing"
position = { series = "angle", column = 0, unit = "deg" }

[[actuator]]
name = "drive"
joint = "swing"
command = { series = "current", column = 0, unit = "N m" }
"""
ROBOT = """
import mujoco, numpy as np
from isthmus.core import WorldSpec
from isthmus.sim import RobotModel
from isthmus.tasks import Task

MODEL = mujoco.MjModel.from_xml_path("swing.xml")


def observe(fields, out):
    out[:, :1], out[:, 1:] = fields["qpos"], fields["qvel"]


def restore(observations, qpos, qvel):
    qpos[:], qvel[:] = observations[:, :1], observations[:, 1:]


def make_task():
    spec = WorldSpec(("angle", "speed"), ("drive",), np.array([-1.0]), np.array([1.0]), 0.02, 40, np.arange(2))
    model = RobotModel(
        model=MODEL, frame_skip=4, spec=spec, reads=(), observe=observe, restore=restore,
        start=lambda rng, n: (rng.uniform(-0.3, 0.3, (n, 1)), np.zeros((n, 1))),
    )
    return Task(
        name="swing", robot_model=model, measure=lambda fields: fields["qpos"],
        score=lambda before, commands, after: -np.abs(after - 0.4).sum(axis=1),
        policy=lambda history: 0.45 + 1.5 * (0.4 - history.current[:, :1]) - 0.3 * history.current[:, 1:],
    )
"""


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Three logs, in degrees, of a pendulum that rubs: its model knows nothing of that."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.xml").write_text(MODEL)
    (tmp_path / "swing.logmap.toml").write_text(MAP)
    (tmp_path / "swing.py").write_text(ROBOT)
    model, rng = mujoco.MjModel.from_xml_string(MODEL), np.random.default_rng(0)
    model.dof_frictionloss[0] = 0.06
    for number in range(3):
        data, rows = mujoco.MjData(model), []
        data.qpos[0] = rng.uniform(-0.3, 0.3)
        waves = rng.uniform(0.3, 2.5, 4), rng.uniform(0, 6, 4), rng.uniform(0.08, 0.25, 4)
        for row in range(160):
            time = 0.02 * row
            data.ctrl[0] = sum(size * np.sin(2 * np.pi * f * time + at) for f, at, size in zip(*waves, strict=True))
            rows.append((time, np.rad2deg(data.qpos[0] + 1e-4 * rng.standard_normal()), data.ctrl[0]))
            for _ in range(4):
                mujoco.mj_step(model, data)
        np.savetxt(tmp_path / f"{number}.csv", rows, delimiter=",", header="time,angle,current", comments="")
    return ["--logs", "0.csv", "1.csv", "2.csv", "--map", "swing.logmap.toml"]


def test_a_gap_report_names_friction_and_says_what_to_type(recorded, tmp_path, capsys):
    main(["analyse", "gap", *recorded, "--robot", "swing.xml", "--out", "report", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["families"]["order"][0]["family"] == "friction"
    assert found["ratio"] < 0.3
    assert found["explained"]["physics"] > 0.8
    names = [one["name"] for one in found["models"]]
    assert names[:2] == ["previous value", "simulator"]
    assert names[-1] == "gradient boosting"
    assert found["next"][0].startswith("put the identified parameters into the model")
    assert json.loads((tmp_path / "report" / "gap.json").read_text()) == found
    page = (tmp_path / "report" / "gap.html").read_text()
    assert "friction" in page
    assert "<script" not in page


def test_physics_is_identified_from_logs_and_judged_on_others(recorded, tmp_path, capsys):
    main(["analyse", "identify", "swing.xml", *recorded, "--out", "swing.json"])
    printed = capsys.readouterr().out
    assert "dry friction of swing" in printed
    assert "not determined by these logs" in printed
    found = json.loads((tmp_path / "swing.json").read_text())
    friction = next(one for one in found["parameters"] if one["name"] == "dry friction of swing")
    assert friction["robot"] == pytest.approx(0.06, rel=0.25)
    assert found["errors"][-1]["identified"] < 0.3 * found["errors"][-1]["simulator"]


def test_a_policy_is_adapted_from_logs_alone_with_an_estimate_and_its_limits(recorded, tmp_path, capsys):
    options = ["--method", "residual-action", "--evaluation-episodes", "50", "--no-report", "--out", "run"]
    main(["transfer", "swing.py", *recorded, *options])
    printed = capsys.readouterr().out
    assert "no robot was moved: the scores are estimates" in printed
    assert "coverage: " in printed
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["samples"] == 3 * 159
    assert result["target_steps"] is None
    fitted = json.loads((tmp_path / "run" / "forward.json").read_text())
    assert fitted["model_error"] < 0.5 * fitted["simulator_error"]


def test_logs_come_first_and_collecting_goes_on_from_there(recorded, tmp_path, capsys):
    options = ["--gap", "joint-friction=0.06", "--samples", "80", "--method", "residual-action"]
    main(["transfer", "swing.py", *recorded, *options, "--no-report", "--out", "run", "--json"])
    assert json.loads(capsys.readouterr().out)["samples"] == 3 * 159 + 80


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["analyse", "gap", "--robot", "swing.xml"], "there are no logs"),
        (["analyse", "gap", "--logs", "0.csv"], "say which robot the logs are of"),
        (
            ["analyse", "gap", "--logs", "no.csv", "--robot", "swing.xml", "--map", "swing.logmap.toml"],
            "no log at no.csv",
        ),
        (["analyse", "gap", "--logs", "0.csv", "--robot", "no.xml", "--map", "swing.logmap.toml"], "no robot model at"),
        (["analyse", "gap", "--logs", "0.csv", "--robot", "swing.xml", "--map", "swing.logmap.toml"], "record more"),
        (["transfer", "swing.py", "--map", "swing.logmap.toml"], "give them with --logs"),
        (["transfer", "reacher", "--logs", "0.csv", "--map", "swing.logmap.toml"], "unknown joint 'swing'"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(recorded, words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
