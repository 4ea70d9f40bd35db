"""Recorded observations in a log: by name, episode by episode, at the control rate."""

import json

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.logs import read_log
from isthmus.logs.observations import observations_of

NAMES = ("hip", "fingertip - target x", "hip velocity")
PERIOD = 0.02


def moved(count=40, period=PERIOD):
    time = period * np.arange(count)
    return time, np.column_stack((np.sin(3 * time), np.cos(2 * time), 3 * np.cos(3 * time)))


def write(path, time, values, names=NAMES, episode=None):
    marks = [] if episode is None else ["episode"]
    rows = [",".join(["time", *names, *marks])]
    for number, (t, row) in enumerate(zip(time.tolist(), values.tolist(), strict=True)):
        cells = [repr(t), *("" if np.isnan(one) else repr(one) for one in row)]
        rows.append(",".join([*cells, *([str(episode[number])] if marks else [])]))
    path.write_text("\n".join(rows))
    return path


def test_columns_are_found_by_name_in_any_order(tmp_path):
    time, values = moved()
    path = write(tmp_path / "log.csv", time, values[:, [2, 0, 1]], [NAMES[2], NAMES[0], NAMES[1]])
    found = observations_of(read_log(path), NAMES, PERIOD)
    np.testing.assert_allclose(found.tracks[0], values)
    assert found.notes == ()


def test_episodes_are_told_apart_by_their_column(tmp_path):
    time, values = moved()
    marks = [0] * 25 + [1] * 15
    path = write(tmp_path / "log.csv", np.concatenate((time[:25], time[:15] + 100)), values, episode=marks)
    found = observations_of(read_log(path), NAMES, PERIOD)
    assert [len(track) for track in found.tracks] == [25, 15]


def test_a_missing_velocity_is_differentiated_and_another_rate_is_resampled(tmp_path):
    time, values = moved(400, PERIOD / 5)
    path = write(tmp_path / "log.csv", time, values[:, :2], NAMES[:2])
    found = observations_of(read_log(path), NAMES, PERIOD)
    expected = moved(80)[1]
    np.testing.assert_allclose(found.tracks[0][2:-2], expected[2:-2], atol=0.02)
    assert "hip velocity" in found.notes[0]
    assert "50 Hz" in found.notes[1]


@pytest.mark.parametrize("names", [NAMES, None])
def test_messages_of_a_topic_are_read(tmp_path, names):
    writer = pytest.importorskip("mcap.writer")
    time, values = moved()
    with (tmp_path / "log.mcap").open("wb") as file:
        log = writer.Writer(file)
        log.start()
        schema = log.register_schema("seen", "jsonschema", b'{"type": "object"}')
        channel = log.register_channel("/observations", "json", schema)
        for t, row in zip(time, values.tolist(), strict=True):
            data = {"data": row} if names is None else dict(zip(names, row, strict=True))
            stamp = 1_700_000_000_000_000_000 + round(t * 1e9)
            log.add_message(channel, stamp, json.dumps(data).encode(), stamp)
        log.finish()
    found = observations_of(read_log(tmp_path / "log.mcap"), NAMES, PERIOD)
    np.testing.assert_allclose(found.tracks[0], values)
    assert bool(found.notes) is (names is None)


def test_episodes_of_a_lerobot_data_set_are_read_in_its_own_order(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    time, values = moved()
    order = [2, 0, 1]
    feature = {"dtype": "float32", "shape": [3], "names": [NAMES[i] for i in order]}
    about = {
        "codebase_version": "v2.1",
        "fps": 50,
        "chunks_size": 1000,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "features": {"observation.state": feature},
    }
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(json.dumps(about))
    (tmp_path / "data" / "chunk-000").mkdir(parents=True)
    for episode, rows in enumerate((slice(0, 25), slice(25, 40))):
        columns = {
            "observation.state": values[rows][:, order].tolist(),
            "timestamp": (time[rows] - time[rows][0]).tolist(),
            "episode_index": [episode] * len(time[rows]),
        }
        parquet.write_table(pa.table(columns), tmp_path / "data" / "chunk-000" / f"episode_{episode:06d}.parquet")
    found = observations_of(read_log(tmp_path), NAMES, PERIOD)
    np.testing.assert_allclose(np.concatenate(found.tracks), values)
    assert [len(track) for track in found.tracks] == [25, 15]


def test_joints_of_a_velocity_are_no_positions(tmp_path):
    time, values = moved()
    path = tmp_path / "log.csv"
    cells = zip(time.tolist(), values.tolist(), strict=True)
    rows = [f"{t!r},{v!r},{p!r},{g!r},9.0" for t, (p, g, v) in cells]
    path.write_text("\n".join(["time,velocity.hip,position.hip,fingertip - target x,effort.hip", *rows]))
    found = observations_of(read_log(path), NAMES, PERIOD)
    np.testing.assert_allclose(found.tracks[0], values)


def bad_log(path, how):
    time, values = moved()
    names = NAMES
    if how == "hole":
        time, values = np.delete(time, range(10, 20)), np.delete(values, range(10, 20), axis=0)
    elif how == "nan":
        values[7, 1] = np.nan
    elif how == "short":
        time, values = time[:2], values[:2]
    elif how == "backwards":
        time[20] = time[18]
    elif how == "unknown":
        names = ("knee", *NAMES[1:])
    return write(path, time, values, names)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("hole", "has a gap of 0.22 s at 0.18 s"),
        ("nan", r"no number for 'fingertip - target x' at 0.14 s \(row 7\)"),
        ("short", "has 2 samples, at least 3"),
        ("backwards", "goes back in time after 0.38 s: mark its episodes"),
        ("unknown", "has no column 'hip': its columns must be named"),
    ],
)
def test_what_cannot_be_followed_is_named(tmp_path, how, words):
    with pytest.raises(Problem, match=words):
        observations_of(read_log(bad_log(tmp_path / "log.csv", how)), NAMES, PERIOD)


def test_a_nameless_array_of_another_width_is_of_another_robot(tmp_path):
    np.savez(tmp_path / "log.npz", time=PERIOD * np.arange(10), observations=np.zeros((10, 7)))
    with pytest.raises(Problem, match="has 7 columns, and an observation of the robot has 3"):
        observations_of(read_log(tmp_path / "log.npz"), NAMES, PERIOD)
