"""Time columns, whatever they are called and in whatever unit."""

import numpy as np
import pytest

from isthmus.logs import read_log
from isthmus.logs.clocks import clock_of, one_after_the_other, seconds


@pytest.mark.parametrize(
    ("names", "clock"),
    [
        (("q", "Time [s]"), "Time [s]"),
        (("theta_deg", "t_ms"), "t_ms"),
        (("sim_time_us", "loop_time"), "sim_time_us"),
        (("data.time", "data.q"), "data.time"),
        (("rosbag_timestamp", "q"), "rosbag_timestamp"),
        (("timestamp_ns", "time"), "time"),
        (("tau_1", "status", "q_s"), None),
    ],
)
def test_a_clock_is_known_by_its_name(names, clock):
    assert clock_of(names) == clock


@pytest.mark.parametrize(
    ("name", "unit", "rate"),
    [
        ("t [ms]", 1e3, 500),
        ("stamp_ns", 1e9, 1000),
        ("time", 1e9, 1000),
        ("time", 1e6, 50),
        ("time", 1e3, 200),
        ("t", 1, 5),
    ],
)
def test_times_come_in_seconds(name, unit, rate):
    time, _ = seconds(name, unit * np.arange(100) / rate)
    assert np.median(np.diff(time)) == pytest.approx(1 / rate)


def test_recordings_that_share_a_file_are_not_mixed():
    clock, columns, notes = np.tile(np.arange(50) * 0.01, 3), {"q": np.zeros(150)}, []
    time = one_after_the_other(clock, columns, notes)
    assert (np.diff(time) > 0).all()
    np.testing.assert_allclose(np.diff(time)[[49, 99]], 1.0)
    assert columns["episode"][[0, 49, 50, 149]].tolist() == [0, 0, 1, 2]
    assert "begins anew 2 times" in notes[0]


def test_episodes_that_are_marked_stay_as_they_are():
    columns = {"episode_index": np.repeat([3.0, 4.0], 50)}
    one_after_the_other(np.tile(np.arange(50) * 0.01, 2), columns, [])
    assert list(columns) == ["episode_index"]


def test_a_row_out_of_order_begins_no_recording():
    clock = np.arange(50) * 0.01
    clock[[20, 21]] = clock[[21, 20]]
    columns, notes = {}, []
    time = one_after_the_other(clock, columns, notes)
    assert (columns, notes) == ({}, [])
    np.testing.assert_array_equal(time, clock)


def test_a_file_with_two_recordings_is_applied_as_two_segments(tmp_path):
    from isthmus.logs.apply import apply
    from isthmus.logs.log_map import JointSources, LogMap, Source

    rows = [f"{t:.2f},{np.sin(3 * t) + shift:.4f}" for shift in (0.0, 1.0) for t in np.arange(0, 2, 0.01)]
    (tmp_path / "two.csv").write_text("time,hip\n" + "\n".join(rows) + "\n")
    found = apply(LogMap(joints=(JointSources("hip", Source("hip", 0)),)), read_log(tmp_path / "two.csv"))
    assert len(found.starts) == 2
    assert found.position[found.starts[1] :].mean() - found.position[: found.starts[1]].mean() == pytest.approx(1.0)
