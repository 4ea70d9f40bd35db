from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.logs import LogMap, Series, apply
from isthmus.logs.log_map import ActuatorSource, JointSources, Source
from isthmus.logs.series import make_log

DEGREE = np.pi / 180


def wave(time):
    return np.stack([0.4 * np.sin(2 * np.pi * 0.7 * time), 0.9 * np.cos(2 * np.pi * 0.3 * time + 0.4)], axis=1)


def make(time=None, command_time=None, **extra):
    """A log whose positions are in degrees, negated and shifted; its commands are the positions of 50 ms later."""
    time = np.arange(0, 6, 0.01) if time is None else time
    asked = time if command_time is None else command_time
    series = [
        Series("q", time, (wave(time) - 0.2) / DEGREE * [1, -1], ("0", "1")),
        Series("goal", asked, wave(asked + 0.05), ("0", "1")),
        *(Series(name, time, values.reshape(len(time), -1), ("0",)) for name, values in extra.items()),
    ]
    return make_log(Path("log.npz"), "npz", series)


def mapped(**fields):
    joints = (
        JointSources("hip", Source("q", 0, 1, DEGREE, 0.2)),
        JointSources("knee", Source("q", 1, -1, DEGREE, 0.2)),
    )
    actuators = tuple(ActuatorSource(name, name, Source("goal", column)) for column, name in enumerate(("hip", "knee")))
    return LogMap(joints, actuators, **fields)


def test_columns_become_joints_in_rad():
    found = apply(mapped(), make())
    assert found.joints == ("hip", "knee")
    assert found.dt == pytest.approx(0.01)
    np.testing.assert_allclose(found.position, wave(found.time), atol=1e-9)
    np.testing.assert_allclose(found.command, wave(found.time + 0.05), atol=1e-9)


def test_a_command_that_acts_later_is_moved_by_a_fraction_of_a_row():
    found = apply(mapped(command_delay=0.0535), make()).aligned()
    inside = slice(20, -20)
    # A command holds for a row, so that one which acts between two rows is their mean by time.
    np.testing.assert_allclose(found.command[inside], wave(found.time - 0.0035)[inside], atol=2e-3)
    assert np.abs(found.command - wave(found.time))[inside].max() > 3e-3
    assert found.command_delay == 0


def test_velocities_are_estimated_by_a_filter_that_a_simulation_can_use_too():
    found = apply(mapped(velocity_cutoff=15.0), make())
    simulated, before = [found.velocity[0]], found.position[0]
    for position in found.position[1:]:
        simulated.append(found.velocity_filter.step(simulated[-1], before, position))
        before = position
    np.testing.assert_allclose(found.velocity, simulated, atol=1e-12)
    change = np.gradient(wave(found.time), found.dt, axis=0)
    decay = found.velocity_filter.decay
    lag = found.dt * decay / (1 - decay) + found.dt / 2  # of the low-pass, and of a backward difference
    late = np.gradient(wave(found.time - lag), found.dt, axis=0)
    assert np.abs(found.velocity - late)[50:-5].max() < 0.1 * np.abs(found.velocity - change)[50:-5].max()
    assert any("estimated" in note for note in found.notes)


def test_fast_vibration_is_filtered_not_folded_back():
    time = np.arange(0, 4, 0.001)
    shaking = np.sin(2 * np.pi * 0.5 * time) + 0.5 * np.sin(2 * np.pi * 101 * time)
    log = make_log(Path("log.npz"), "npz", [Series("q", time, shaking[:, None], ("0",))])
    found = apply(LogMap((JointSources("hip", Source("q", 0)),), rate=50.0), log)
    slow = np.sin(2 * np.pi * 0.5 * found.time)
    assert np.abs(found.position[:, 0] - slow)[10:-10].max() < 0.01


def test_a_command_that_is_faster_than_the_result_is_its_mean_over_each_row():
    fast = np.arange(0, 6, 0.002)
    log = make(command_time=fast)
    found = apply(mapped(), log)
    told = wave(fast + 0.05)
    row = 37
    np.testing.assert_allclose(found.command[row], told[row * 5 : row * 5 + 5].mean(axis=0), atol=1e-9)


def test_gaps_episodes_and_idle_drives_begin_new_segments():
    time = np.arange(0, 6, 0.01)
    gone = np.delete(time, slice(100, 160))
    assert apply(mapped(), make(gone)).starts == (0, 100)
    episode, on = (time > 2.995).astype(float), 1.0 * ((time < 4) | (time > 4.5))
    log = make(episode=episode, on=on)
    found = apply(mapped(episode=Source("episode", 0), enabled=Source("on", 0)), log)
    assert len(found.starts) == 3
    assert not ((found.time > 4.005) & (found.time < 4.495)).any()
    parts = list(found.segments())
    assert sum(len(part) for part in parts) == len(found)
    assert all(np.allclose(np.diff(part.time), 0.01) for part in parts)


def test_an_encoder_that_begins_anew_does_not_jump():
    time = np.arange(0, 4, 0.01)
    turning = np.stack([3 * time, 3 * time], axis=1)
    wrapped = np.remainder(turning + np.pi, 2 * np.pi) - np.pi
    log = make_log(Path("log.npz"), "npz", [Series("q", time, wrapped, ("0", "1"))])
    found = apply(LogMap((JointSources("wheel", Source("q", 1)),)), log)
    np.testing.assert_allclose(np.diff(found.position[:, 0]), 0.03, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"enabled": Source("none", 0)}, "unknown series"),
        ({"enabled": Source("q", 7)}, "there is no column 7"),
        ({"rate": 0.5}, "without a gap"),
    ],
)
def test_what_does_not_fit_the_log_is_one_sentence(change, said):
    with pytest.raises(Problem, match=said):
        apply(mapped(**change), make())
