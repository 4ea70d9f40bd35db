import numpy as np
import pytest

from isthmus.logs import Series
from isthmus.logs.inspect import complaints, inspect_series
from isthmus.logs.units import guess_unit

TIME = np.arange(400) * 0.005


def wave(amplitude=0.4):
    return amplitude * np.sin(2 * np.pi * 1.3 * TIME)[:, None] * [1.0, -0.6]


def facts(values=None, time=TIME, name="joint_pos", **fields):
    values = wave() if values is None else values
    return inspect_series(Series(name, np.array(time), np.array(values), ("hip", "knee"), **fields))


def test_a_clean_series_has_nothing_to_complain_about():
    found = facts()
    assert complaints(found) == []
    assert (found.samples, found.components, found.gaps) == (400, 2, 0)
    assert found.rate == pytest.approx(200)


def test_a_sensor_that_refreshes_every_third_row_is_noticed():
    held = wave()[np.arange(400) // 3 * 3]
    assert facts(held).refresh == pytest.approx(200 / 3, rel=0.05)


def test_a_joint_at_rest_is_not_taken_for_a_slow_sensor():
    values = wave()
    values[100:300] = values[100]
    assert facts(values).repeated < 0.05


def test_gaps_jitter_and_time_that_runs_backwards_are_told():
    late = TIME.copy()
    late[200:] += 0.3
    assert "a gap of 0.305 s" in complaints(facts(time=late))
    uneven = TIME + np.random.default_rng(0).uniform(0, 0.004, len(TIME))
    assert any(one.startswith("uneven") for one in complaints(facts(time=uneven)))
    back = TIME.copy()
    back[50] = back[48]
    assert any("does not advance" in one for one in complaints(facts(time=back)))


def test_missing_and_constant_components_are_named():
    values = wave()
    values[10:30, 0] = np.nan
    values[:, 1] = 0.2
    said = complaints(facts(values))
    assert "2.5% of values are missing" in said
    assert "never changes: knee" in said


def test_a_slow_sensor_in_a_fast_table_is_judged_by_its_own_rows():
    time = np.arange(400) * 0.01
    values = np.where(np.arange(400) % 5 == 0, np.sin(time), np.nan)[:, None]
    facts = inspect_series(Series("q", time, values, ("q",)))
    assert (facts.samples, facts.rate, facts.repeated) == (80, pytest.approx(20), 0)
    assert facts.missing == pytest.approx(0.8)


def test_the_recorders_delay_is_told():
    assert "received 0.2 s after its time stamps" in complaints(facts(received=TIME + 0.2))


@pytest.mark.parametrize(
    ("name", "scale", "kind", "unit"),
    [
        ("/joint_states.position", 1.0, "position", "rad"),
        ("dof_pos", 57.3, "position", "deg"),
        ("jointVel", 3.0, "velocity", "rad/s"),
        ("state.speed", 500.0, "velocity", "deg/s"),
        ("effort", 5.0, "torque", "N m"),
        ("present_current", 1.0, "current", "A"),
        ("dq", 1.0, "velocity", "rad/s"),
        ("Speed (rpm)", 3.0, "velocity", "rpm"),
        ("Angle (°)", 1.0, "position", "deg"),
        ("banana", 1.0, "", ""),
    ],
)
def test_names_and_sizes_tell_units(name, scale, kind, unit):
    found = guess_unit(name, wave() * scale)
    assert (found.kind, found.unit) == (kind, unit)
    assert found.reason


def test_a_switch_is_not_a_torque():
    assert guess_unit("torque_enable", (wave() > 0).astype(float)).kind == ""


def test_a_counter_may_repeat():
    values = np.repeat(np.arange(20.0), 20)[:, None] * [1, 1]
    assert facts(values).repeated == 0


def test_whole_numbers_are_encoder_ticks():
    assert guess_unit("position", np.round(wave(2000.0))).unit == "ticks"
