"""The same numbers in the layouts in which people keep them."""

import json

import numpy as np
import pytest

from isthmus.logs import read_log

TIME = np.arange(40) * 0.01
Q = np.stack([np.sin(5 * TIME), np.cos(7 * TIME)], axis=1)


def rows(separator=",", decimal=".", index=False):
    for number, (t, (a, b)) in enumerate(zip(TIME, Q, strict=True)):
        cells = [*([str(number)] if index else []), *(f"{x:.6f}".replace(".", decimal) for x in (t, a, b))]
        yield separator.join(cells)


TABLES = {
    "comments before the header": ["# robot: arm", "% 2026", "time,q_0,q_1", *rows()],
    "a header that is a comment": ["# robot: arm", "# time,q_0,q_1", *rows()],
    "decimal commas": ["time;q_0;q_1", *rows(";", ",")],
    "row numbers without a name": [",time,q_0,q_1", *rows(index=True)],
    "row numbers as pandas reads them": ["Unnamed: 0,time,q_0,q_1", *rows(index=True)],
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(name, tmp_path):
    (tmp_path / "log.csv").write_text("\n".join(TABLES[name]) + "\n")
    log = read_log(tmp_path / "log.csv")
    assert list(log.series) == ["q"]
    assert log.notes == ()
    np.testing.assert_allclose(log["q"].time, TIME)
    np.testing.assert_allclose(log["q"].values, Q, atol=1e-6)


def test_rows_are_counted_from_the_beginning_of_the_file(tmp_path):
    (tmp_path / "log.csv").write_text("# robot\ntime,q\n0,1\n0.1\n0.2,3\n")
    with pytest.raises(Exception, match="row 4: 1 cells under a header of 2"):
        read_log(tmp_path / "log.csv")


@pytest.mark.parametrize("prefix", ["", "data."])
def test_a_list_for_each_column(prefix, tmp_path):
    columns = {"time": TIME.tolist(), "q": Q.tolist()}
    content = {"robot": "arm", "gains": [1.0, 2.0], **({"data": columns} if prefix else columns)}
    (tmp_path / "log.json").write_text(json.dumps(content))
    log = read_log(tmp_path / "log.json")
    np.testing.assert_allclose(log[f"{prefix}q"].values, Q)
    assert log.meta["robot"] == "arm"


def test_stamps_in_two_columns(tmp_path):
    lines = [
        {"header": {"stamp": {"sec": 1_700_000_000 + int(t + 0.9), "nanosec": round(((t + 0.9) % 1) * 1e9)}}, "q": q}
        for t, q in zip(TIME, Q.tolist(), strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    np.testing.assert_allclose(read_log(tmp_path / "log.jsonl")["q"].time, TIME, atol=1e-6)


def test_arrays_with_a_clock_of_their_own(tmp_path):
    fast = np.arange(200) * 0.002
    np.savez(tmp_path / "log.npz", time=TIME, q=Q, cmd_time=fast, cmd=np.sin(fast))
    log = read_log(tmp_path / "log.npz")
    assert (log["q"].rate, log["cmd"].rate) == (pytest.approx(100), pytest.approx(500))


def test_arrays_with_a_row_a_component(tmp_path):
    np.savez(tmp_path / "log.npz", time=TIME, q=Q.T)
    log = read_log(tmp_path / "log.npz")
    np.testing.assert_array_equal(log["q"].values, Q)
    assert "was transposed" in log.notes[0]


def test_arrays_with_episodes(tmp_path):
    np.savez(tmp_path / "log.npz", dt=0.01, q=np.stack([Q, 2 * Q]), reward=np.zeros((2, 40)))
    log = read_log(tmp_path / "log.npz")
    np.testing.assert_array_equal(log["q"].values, np.concatenate([Q, 2 * Q]))
    assert np.diff(log["q"].time)[39] > 1.0
    assert log["episode"].values[[39, 40], 0].tolist() == [0, 1]


def test_vectors_of_each_component_are_no_episodes(tmp_path):
    np.savez(tmp_path / "log.npz", dt=0.01, q=Q, feet=np.zeros((40, 4, 3)))
    log = read_log(tmp_path / "log.npz")
    assert log["feet"].values.shape == (40, 12)
    assert len(log["q"].time) == 40
