import json
import re
from pathlib import Path

import numpy as np
import pytest

from isthmus.actuators.reading import Mapping, read_logs
from isthmus.core import Problem

RATE = 200.0


def motion(seconds=20.0, joints=2, seed=0):
    time = np.arange(0, seconds, 1 / RATE)
    rng = np.random.default_rng(seed)
    speed, turn = rng.uniform(3, 9, joints), rng.uniform(0, 6, joints)
    target = 0.4 * np.sin(np.outer(time, speed) + turn)
    position = 0.35 * np.sin(np.outer(time, speed) + turn - 0.2)
    velocity = 0.35 * speed * np.cos(np.outer(time, speed) + turn - 0.2)
    torque = 8 * (target - position) - 0.3 * velocity + 0.5 * np.sign(velocity)
    return {"time": time, "target": target, "position": position, "velocity": velocity, "torque": torque}


def saved(path, columns):
    np.savez(path, **columns)
    return path


def test_columns_are_found_by_their_names_and_the_reasons_are_said(tmp_path):
    reading = read_logs([saved(tmp_path / "a.npz", motion())], joints=("hip", "knee"))
    assert reading.log.dt == pytest.approx(1 / RATE)
    assert reading.log.torque is not None
    assert any("guessed target: target" in note for note in reading.notes)


def test_csv_columns_of_each_joint_are_matched_by_name_not_by_order(tmp_path):
    data = motion()
    names = ["time"] + [
        f"{role}_{joint}"
        for role, joint in (
            ("target", "hip"),
            ("target", "knee"),
            ("position", "hip"),
            ("position", "knee"),
            ("velocity", "hip"),
            ("velocity", "knee"),
        )
    ]
    table = np.column_stack([data["time"], data["target"], data["position"], data["velocity"]])
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header=",".join(names), comments="")
    reading = read_logs([tmp_path / "a.csv"])
    assert reading.log.joints == ("hip", "knee")
    np.testing.assert_allclose(reading.log.position, data["position"], atol=1e-9)


def test_json_with_facts_and_rows_in_which_the_drive_was_off(tmp_path):
    data = motion(joints=1)
    rows = [
        {
            "timestamp": float(t),
            "goal_position": float(g),
            "position": float(p),
            "speed": float(v),
            "torque_enable": bool(t < 16),
        }
        for t, g, p, v in zip(
            data["time"], data["target"][:, 0], data["position"][:, 0], data["velocity"][:, 0], strict=True
        )
    ]
    (tmp_path / "a.json").write_text(json.dumps({"mass": 0.5, "length": 0.1, "kp": 100, "entries": rows}))
    reading = read_logs([tmp_path / "a.json"])
    assert reading.facts["mass"] == 0.5
    assert reading.log.seconds == pytest.approx(16, abs=0.1)
    assert any("drive was off" in note for note in reading.notes)


def test_a_folder_with_lists_in_cells(tmp_path):
    data = motion()
    (tmp_path / "joint_list.txt").write_text("Hip\nKnee\n")
    for name, parts in (("control.csv", ("target",)), ("state_motor.csv", ("position", "velocity"))):
        header = "type,timestamp," + ",".join(
            {"target": "positions", "position": "positions", "velocity": "velocities"}[one] for one in parts
        )
        lines = [
            ",".join(["X", str(1e6 * t), *(f'"{data[one][row].tolist()}"' for one in parts)])
            for row, t in enumerate(data["time"])
        ]
        (tmp_path / name).write_text("\n".join([header, *lines]) + "\n")
    reading = read_logs([tmp_path])
    assert reading.log.joints == ("Hip", "Knee")
    assert reading.log.dt == pytest.approx(1 / RATE)


def changed(**changes):
    return motion() | changes


def with_nan():
    data = motion()
    data["position"][37, 1] = np.nan
    return data


def without(name):
    return {key: value for key, value in motion().items() if key != name}


@pytest.mark.parametrize(
    ("columns", "options", "sentence"),
    [
        (with_nan(), {}, r"the position of knee is not a number in row 37"),
        (motion(seconds=10), {}, r"10\.0 s of motion.*record at least 15 s"),
        (changed(target=motion()["target"] * 57.3, position=motion()["position"] * 57.3), {}, "looks like degrees"),
        (changed(velocity=motion()["velocity"] * 57.3), {}, "velocities are in degrees a second and positions in rad"),
        (changed(time=motion()["time"] * 4), {}, r"the log is not at 50 Hz, or units differ"),
        (motion(), {"rate": 100.0}, r"200 rows a second by its time column, not the 100"),
        (without("time"), {}, "no time column: give the rate"),
        (without("target"), {}, "no column that is clearly the target"),
        (changed(position=np.ones((4000, 2))), {}, "the position of hip, knee never changes"),
        (motion(), {"joints": ("hip",)}, "has 2 joints and 1 names"),
        (motion(), {"without": ("elbow",)}, "no joint 'elbow'"),
        (changed(time=motion()["time"][::-1]), {}, "time goes back in row 1"),
    ],
)
def test_what_is_wrong_with_a_log_is_one_sentence(tmp_path, columns, options, sentence):
    with pytest.raises(Problem, match=sentence):
        read_logs([saved(tmp_path / "a.npz", columns)], **{"joints": ("hip", "knee")} | options)


def test_logs_at_very_different_rates_are_not_mixed(tmp_path):
    slow = {key: value[::4] for key, value in motion(80).items()}
    with pytest.raises(Problem, match="50 Hz and 200 Hz are too different"):
        read_logs([saved(tmp_path / "a.npz", motion()), saved(tmp_path / "b.npz", slow)], joints=("hip", "knee"))


def test_repeated_samples_are_found_and_taken_once(tmp_path):
    data = motion()
    for name in ("position", "velocity", "torque"):
        data[name] = np.repeat(data[name][::4], 4, axis=0)
    reading = read_logs([saved(tmp_path / "a.npz", data)], joints=("hip", "knee"))
    assert reading.log.dt == pytest.approx(4 / RATE)
    assert any(re.search(r"position is a new number only every 4\.\d rows", note) for note in reading.notes)


def test_channels_that_refresh_at_different_rows_are_found(tmp_path):
    data = motion()
    for name, late in (("position", 0), ("velocity", 0), ("torque", 1)):
        data[name] = np.roll(np.repeat(data[name][::4], 4, axis=0), late, axis=0)
    reading = read_logs([saved(tmp_path / "a.npz", data)], joints=("hip", "knee"))
    assert any("torques are new 1 rows after positions are" in note for note in reading.notes)


@pytest.mark.parametrize(
    ("torque", "why"),
    [
        (np.abs(motion()["torque"]), "has no sign"),
        (8 * (motion()["target"] - motion()["position"]) - 0.3 * motion()["velocity"], "computed rather than measured"),
    ],
)
def test_a_torque_that_nobody_measured_is_not_used(tmp_path, torque, why):
    reading = read_logs([saved(tmp_path / "a.npz", changed(torque=torque))], joints=("hip", "knee"))
    assert reading.log.torque is None
    assert any(why in note for note in reading.notes)


def test_a_mapping_survives_its_file_and_is_obeyed(tmp_path):
    data = motion()
    path = saved(
        tmp_path / "a.npz",
        {
            "when": data["time"],
            "asked": np.degrees(data["target"]),
            "at": np.degrees(data["position"]),
            "fast": np.degrees(data["velocity"]),
        },
    )
    Mapping(
        {"time": ("when",), "target": ("asked",), "position": ("at",), "velocity": ("fast",)}, ("hip", "knee"), "deg"
    ).save(tmp_path / "m.toml")
    reading = read_logs([path], Mapping.load(tmp_path / "m.toml"))
    np.testing.assert_allclose(reading.log.position, data["position"], atol=1e-9)


@pytest.mark.parametrize(
    "text", ['target = ["a"]', 'target = ["a"]\nposition = ["b"]\nangle = "gon"', "x = 1", "target ="]
)
def test_a_mapping_that_makes_no_sense_is_refused(tmp_path, text):
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(Problem):
        Mapping.load(Path(tmp_path / "m.toml"))


def test_the_resolution_of_a_sensor_is_that_of_its_file_though_samples_come_unevenly(tmp_path):
    data = motion()
    rng = np.random.default_rng(3)
    data["time"] = data["time"] + rng.uniform(0, 2e-4, len(data["time"]))
    data["position"] = np.round(data["position"] / 0.0015) * 0.0015
    reading = read_logs([saved(tmp_path / "a.npz", data)], joints=("hip", "knee"))
    np.testing.assert_allclose(reading.resolution, 0.0015, rtol=1e-6)
