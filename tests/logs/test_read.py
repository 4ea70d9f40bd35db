import shutil
import zipfile

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.logs import read_log


def series(log, field):
    found = [one for name, one in log.series.items() if name.split(".")[-1] == field]
    assert len(found) == 1
    return found[0]


def test_the_same_log_reads_to_the_same_arrays_in_every_format(kind, logs, expected):
    log = read_log(logs[kind])
    for field in ("position", "velocity"):
        one = series(log, field)
        np.testing.assert_allclose(one.time, expected.time, atol=1e-6)
        np.testing.assert_array_equal(one.values, getattr(expected, field))
    assert series(log, "position").rate == pytest.approx(200, rel=1e-3)


@pytest.mark.parametrize("kind", ["rosbag 1", "rosbag 2, SQLite", "rosbag 2, MCAP", "LeRobot 2", "LeRobot 3"])
def test_joints_keep_their_names(kind, logs, expected):
    assert series(read_log(logs[kind]), "position").labels == expected.joints


def test_the_recorders_clock_is_kept_beside_the_stamps(logs):
    position = series(read_log(logs["rosbag 1"]), "position")
    np.testing.assert_allclose(position.received - position.time, 0.002, atol=1e-6)


@pytest.mark.parametrize("kind", ["rosbag 1", "MCAP with JSON", "JSON lines", "CSV"])
@pytest.mark.parametrize("share", [0.5, 0.6])
def test_a_damaged_tail_is_read_as_far_as_it_goes(kind, share, logs, expected, tmp_path):
    whole = logs[kind].read_bytes()
    cut = tmp_path / logs[kind].name
    cut.write_bytes(whole[: int(len(whole) * share)])
    position = series(read_log(cut), "position")
    assert 0 < len(position.time) < len(expected.time)
    np.testing.assert_array_equal(position.values, expected.position[: len(position.time)])


def test_a_database_whose_end_is_missing_is_read_as_far_as_it_goes(logs, expected, tmp_path):
    whole = next(logs["rosbag 2, SQLite"].glob("*.db3")).read_bytes()
    (tmp_path / "cut.db3").write_bytes(whole[: int(len(whole) * 0.8)])
    log = read_log(tmp_path / "cut.db3")
    position = series(log, "position")
    assert 0 < len(position.time) < len(expected.time)
    np.testing.assert_array_equal(position.values, expected.position[: len(position.time)])
    assert "is damaged" in log.notes[0]


def test_an_episode_without_a_frame_costs_nothing(logs, expected, tmp_path):
    import pyarrow.parquet as pq

    shutil.copytree(logs["LeRobot 2"], tmp_path / "a")
    [file] = (tmp_path / "a").rglob("*.parquet")
    pq.write_table(pq.read_table(file).slice(0, 0), file.with_name("episode_000001.parquet"))
    np.testing.assert_array_equal(series(read_log(tmp_path / "a"), "position").values, expected.position)
    file.unlink()
    with pytest.raises(Problem, match="all are empty"):
        read_log(tmp_path / "a")


def test_the_motors_of_a_message_become_a_vector():
    import struct

    from isthmus.logs.ros_messages import decode
    from isthmus.logs.ros_types import parse_types

    definition = "Motor[] motors\nMotor alone\n" + "=" * 80 + "\nMSG: my/Motor\nfloat64 q\nfloat64[2] foot\n"
    content = struct.pack("<I9d", 2, 1.0, 10, 11, 2.0, 20, 21, 3.0, 30, 31)
    message = decode(content, "my/msg/State", parse_types(definition, "my/msg/State"), cdr=False)
    assert message.numbers == {
        "motors.q": [1.0, 2.0],
        "motors.foot": [10.0, 11.0],
        "alone.q": [3.0],
        "alone.foot": [30.0, 31.0],
    }


def test_joints_that_come_in_another_order_every_time_are_one_series():
    from isthmus.logs.ros_messages import Message
    from isthmus.logs.topics import Topics

    topics = Topics()
    topics.take("/joint_states", 0.0, Message({"position": [1.0, 2.0], "header.seq": [0.0]}, ("hip", "knee")))
    topics.take("/joint_states", 0.1, Message({"position": [4.0, 3.0], "header.seq": [1.0]}, ("knee", "hip")))
    [found] = topics.series()
    assert found.labels == ("hip", "knee")
    np.testing.assert_array_equal(found.values, [[1, 2], [3, 4]])


def test_two_publishers_of_one_topic_are_told_apart():
    from isthmus.logs.ros_messages import Message
    from isthmus.logs.topics import Topics

    topics = Topics()
    for second in range(3):
        topics.take("/joint_states", float(second), Message({"position": [1.0, 2.0]}, ("hip", "knee")))
    topics.take("/joint_states", 0.5, Message({"position": [9.0, 8.0]}, ("left", "right")))
    arm, gripper = topics.series()
    assert (arm.name, arm.labels, len(arm.time)) == ("/joint_states.position", ("hip", "knee"), 3)
    assert (gripper.name, gripper.labels) == ("/joint_states.position (2)", ("left", "right"))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.csv", b"", "is empty"),
        ("random.bin", bytes(range(64)), "is not a log"),
        ("plain.csv", b"a,b\n1,2\n3,4\n", "no time column"),
        ("headless.csv", b"0,1\n1,2\n", "no header"),
        ("short.csv", b"time,q\n0,1\n0.1\n0.2,3\n", "row 3: 1 cells under a header of 2"),
        ("twice.csv", b"time,q,q\n0,1,2\n1,2,3\n", "names a column twice: 'q'"),
        ("text.csv", b"time,q\n0,\xff\xfe\n", "UTF-8"),
        ("no.json", b"[1, 2]", "not a JSON log"),
        ("plain.jsonl", b'{"a": 1}\n{"a": 2}\n', "has no time"),
        ("broken.npz", b"PK\x03\x04 no archive", "not an npz file"),
        ("broken.db3", b"SQLite format 3\0" + bytes(100), "no numbers over time"),
    ],
)
def test_a_file_that_is_no_log_is_refused_in_a_sentence(name, content, sentence, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Problem, match=sentence):
        read_log(tmp_path / name)


def test_a_log_that_is_not_there_and_a_folder_without_one(tmp_path):
    with pytest.raises(Problem, match="there is no log at"):
        read_log(tmp_path / "missing.csv")
    with pytest.raises(Problem, match="is not a log: rosbag 1"):
        read_log(tmp_path)


def test_arrays_of_python_objects_are_never_read(tmp_path):
    np.savez(tmp_path / "a.npz", time=np.arange(5.0), q=np.arange(5.0), trap=np.array([{"x": 1}], object))
    log = read_log(tmp_path / "a.npz")
    assert list(log.series) == ["q"]
    assert "trap was left out" in log.notes[0]


def test_units_of_time_are_told_by_the_name_or_the_step(tmp_path):
    for name, scale in (("timestamp", 1e6), ("time_ms", 1e3), ("t", 1.0)):
        rows = "\n".join(f"{number * 0.02 * scale},{number}" for number in range(10))
        (tmp_path / "a.csv").write_text(f"{name},q\n{rows}\n")
        assert read_log(tmp_path / "a.csv")["q"].rate == pytest.approx(50)


def test_a_view_in_a_database_is_not_run(logs, tmp_path):
    import sqlite3

    source = next(logs["rosbag 2, SQLite"].glob("*.db3"))
    shutil.copy(source, tmp_path / "a.db3")
    with sqlite3.connect(tmp_path / "a.db3") as base:
        base.execute("ALTER TABLE messages RENAME TO kept")
        base.execute("CREATE VIEW messages AS SELECT * FROM kept")
    base.close()
    with pytest.raises(Problem, match="no tables topics and messages"):
        read_log(tmp_path / "a.db3")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(2):
            archive.writestr(f"{number}.npy", bytes(200 << 20))
    with pytest.raises(Problem, match="unpacks to more than"):
        read_log(tmp_path / "a.npz")


def test_a_table_whose_only_row_is_cut_off_has_no_rows(tmp_path):
    (tmp_path / "log.csv").write_text("time,hip,knee\n0.1,0.2")
    with pytest.raises(Problem, match="no whole row"):
        read_log(tmp_path / "log.csv")


@pytest.mark.parametrize("tail", ["0.2,0.3,-", '0.2,0.3,"[0.5, 0.', "0.2,0.3", "0.2,0.3,0.4e"])
def test_a_row_that_was_cut_off_does_not_cost_its_column(tail, tmp_path):
    last = '"[0.5, 0.5]"' if "[" in tail else "0.5"
    (tmp_path / "log.csv").write_text(f"time,hip,knee\n0.0,0.1,{last}\n0.1,0.2,{last}\n{tail}")
    log = read_log(tmp_path / "log.csv")
    assert [len(log[name].time) for name in ("hip", "knee")] == [2, 2]
    assert "last row, 4, was cut off" in log.notes[0]


def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path):
    for name in ("a.bag", "a.mcap", "a.db3", "a.npz"):
        (tmp_path / name).write_text("time,hip\n0,1\n")
        with pytest.raises(Problem, match="begins with other bytes"):
            read_log(tmp_path / name)
