"""The same numbers in the layouts in which people keep them."""

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.logs import read_log

TIME = np.arange(40) * 0.01
Q = np.stack([np.sin(5 * TIME), np.cos(7 * TIME)], axis=1)


def rows(separator=",", decimal=".", index=False):
    for number, (t, (a, b)) in enumerate(zip(TIME, Q, strict=True)):
        cells = [*([str(number)] if index else []), *(f"{x:.6f}".replace(".", decimal) for x in (t, a, b))]
        yield separator.join(cells)


def date(t):
    """Half a day into the first of May of 2024."""
    return (datetime(2024, 5, 1, 12, tzinfo=UTC) + timedelta(seconds=float(t))).strftime("%Y-%m-%dT%H:%M:%S.%f")


TABLES = {
    "comments before the header": ["# robot: arm", "% 2026", "time,q_0,q_1", *rows()],
    "a header that is a comment": ["# robot: arm", "# time,q_0,q_1", *rows()],
    "decimal commas": ["time;q_0;q_1", *rows(";", ",")],
    "row numbers without a name": [",time,q_0,q_1", *rows(index=True)],
    "row numbers as pandas reads them": ["Unnamed: 0,time,q_0,q_1", *rows(index=True)],
    "bars": ["time|q_0|q_1", *rows("|")],
    "a delimiter after the last cell": ["time,q_0,q_1", *(f"{row}," for row in rows())],
    "a clock of PlotJuggler": ["__time,q_0,q_1", *rows()],
    "a header of rostopic": ["%time,q_0,q_1,frame", *(f"{row},base" for row in rows())],
    "dates": ["time,q_0,q_1", *(f"{date(t)},{a:.6f},{b:.6f}" for t, (a, b) in zip(TIME, Q, strict=True))],
    "dates with nanoseconds": [
        "timestamp,q_0,q_1",
        *(f"{date(t)}000Z,{a:.6f},{b:.6f}" for t, (a, b) in zip(TIME, Q, strict=True)),
    ],
    "times of day past midnight": [
        "time,q_0,q_1",
        *(f"{date(t + 43199.9)[11:]},{a:.6f},{b:.6f}" for t, (a, b) in zip(TIME, Q, strict=True)),
    ],
    "stamps in two columns": [
        "stamp.sec,stamp.nanosec,q_0,q_1",
        *(f"7,{t * 1e9:.0f},{a:.6f},{b:.6f}" for t, (a, b) in zip(TIME, Q, strict=True)),
    ],
    **{
        f"vectors as {form}": [
            "time,q",
            *(
                f'{t:.6f},"{form}"'.replace("a", f"{a:.6f}").replace("b", f"{b:.6f}")
                for t, (a, b) in zip(TIME, Q, strict=True)
            ),
        ]
        for form in ("[a b]", "a;b", "a, b", "(a, b)", "[a, b]", "{a;b}")
    },
}
QUIET = {"a header of rostopic"}
"""Tables whose reading is worth a note."""


@pytest.mark.parametrize("name", TABLES)
def test_tables(name, tmp_path):
    (tmp_path / "log.csv").write_text("\n".join(TABLES[name]) + "\n")
    log = read_log(tmp_path / "log.csv")
    assert list(log.series) == ["q"]
    assert bool(log.notes) == (name in QUIET)
    np.testing.assert_allclose(log["q"].time, TIME, atol=1e-6)
    np.testing.assert_allclose(log["q"].values, Q, atol=1e-6)


def test_text_of_two_bytes_a_letter(tmp_path):
    (tmp_path / "log.csv").write_text("\n".join(["time\tq_0\tq_1", *rows("\t")]), encoding="utf-16")
    np.testing.assert_allclose(read_log(tmp_path / "log.csv")["q"].values, Q, atol=1e-6)


def test_a_row_of_units_below_the_header(tmp_path):
    (tmp_path / "log.csv").write_text("\n".join(["t,hip,knee", "ms,deg,[rad]", "0,1,2", "10,3,4"]))
    log = read_log(tmp_path / "log.csv")
    assert [*log.series] == ["hip [deg]", "knee [rad]"]
    assert log["hip [deg]"].time.tolist() == [0, 0.01]


def test_a_header_that_comes_again(tmp_path):
    whole = ["time,q_0,q_1", *rows()]
    (tmp_path / "log.csv").write_text("\n".join([*whole, *whole]))
    log = read_log(tmp_path / "log.csv")
    assert len(log["q"].time) == 80
    assert log.notes[0] == "its header comes once more between its rows"


@pytest.mark.parametrize("word", ["", "nan", "N/A", "null", "None", "<NA>"])
def test_words_for_what_is_missing(word, tmp_path):
    (tmp_path / "log.csv").write_text(f"time,q,v\n0,1,[1 2]\n1,{word},{word}\n2,3,[5 null]\n3,{word},[3 4]\n")
    log = read_log(tmp_path / "log.csv")
    assert np.isnan(log["q"].values[:, 0]).tolist() == [False, True, False, True]
    assert np.isnan(log["v"].values[:, 1]).tolist() == [False, True, True, False]


def test_a_time_that_is_none_is_named(tmp_path):
    (tmp_path / "log.csv").write_text("time,q\n05/01/2024 12:00,1\n05/01/2024 12:01,2\n")
    with pytest.raises(Problem, match="its column time has '05/01/2024 12:00', which is no time"):
        read_log(tmp_path / "log.csv")


def test_dates_and_lists_of_objects_in_json(tmp_path):
    lines = [
        {"timestamp": date(t), "motors": [{"q": a, "mode": "on"}, {"q": b, "mode": "on"}]}
        for t, (a, b) in zip(TIME, Q.tolist(), strict=True)
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    log = read_log(tmp_path / "log.jsonl")
    np.testing.assert_allclose(log["motors.q"].time, TIME, atol=1e-6)
    np.testing.assert_array_equal(log["motors.q"].values, Q)


@pytest.mark.parametrize("indent", [None, 1])
def test_one_json_value_whose_end_is_missing(indent, tmp_path):
    entries = [{"t": t, "q": q} for t, q in zip(TIME.tolist(), Q.tolist(), strict=True)]
    text = json.dumps({"mass": 0.5, "entries": entries}, indent=indent)
    (tmp_path / "log.json").write_text(text[: len(text) // 2])
    log = read_log(tmp_path / "log.json")
    assert 15 < len(log["q"].time) < 25
    np.testing.assert_array_equal(log["q"].values, Q[: len(log["q"].time)])
    assert log.meta == {"mass": 0.5}
    assert "its end is missing" in log.notes[0]


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
