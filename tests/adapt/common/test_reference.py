"""Where robots are along recorded observations, and what they are to see next."""

from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt.common.reference import FOUND_NOWHERE, Phases, Reference
from isthmus.core import Problem

NOWHERE = np.array([FOUND_NOWHERE])


def circle(turns, steps=40):
    angle = 2 * np.pi * np.arange(int(turns * steps) + 1) / steps
    return np.column_stack((np.sin(angle), np.cos(angle)))


def line(length=30, height=0.0):
    return np.column_stack((np.arange(length, dtype=float), np.full(length, height)))


@pytest.mark.parametrize(
    ("tracks", "words"),
    [
        ((), "at least one recorded episode"),
        ((line(2),), "episode 0 of the reference has 2 observations, at least 3 are needed"),
        ((line(), np.zeros((5, 3))), r"episode 1 of the reference has the shape \(5, 3\)"),
        ((np.array([[0.0, 1], [1, np.nan], [2, 1]]),), "not a finite number in row 1, column 1"),
    ],
)
def test_what_cannot_be_followed_is_refused(tracks, words):
    with pytest.raises(Problem, match=words):
        Reference(tracks)


def test_a_robot_is_found_at_the_nearest_state_and_wants_the_next(make_spec):
    phases = Phases(Reference((line(),)), make_spec())
    phase = phases.find(np.array([[12.2, 0.1]]), NOWHERE)
    assert phase == [12]
    np.testing.assert_allclose(phases.wanted(np.array([[12.2, 0.1]]), phase), [[13.0, 0.0]])


def test_the_phase_goes_on_through_states_that_are_passed_twice(make_spec):
    there_and_back = np.concatenate((line(20), line(20)[::-1]))
    phases = Phases(Reference((there_and_back,)), make_spec())
    phase, found = NOWHERE, []
    for state in there_and_back:
        phase = phases.find(state[None], phase)
        found.append(int(phase[0]))
    assert phases.loops == {}
    assert np.abs(np.array(found) - np.arange(40)).max() <= 1


def test_a_robot_that_was_thrown_far_off_is_found_again(make_spec):
    phases = Phases(Reference((line(60),)), make_spec())
    assert phases.find(np.array([[50.0, 0.0]]), np.array([10])) == [50]


def test_a_small_drift_does_not_make_it_jump(make_spec):
    slope = np.arange(60.0)
    tracks = np.column_stack((slope, slope)), np.column_stack((slope, slope + 0.9))
    phases = Phases(Reference(tracks), make_spec())
    assert phases.find(np.array([[11.0, 11.8]]), np.array([10])) == [11]


def test_periodic_motion_goes_round(make_spec):
    track = circle(2.5)
    phases = Phases(Reference((track,)), make_spec())
    assert len(phases.loops) == 1
    state, phase = track[0], NOWHERE
    for step in range(1, 401):  # ten turns out of two and a half
        phase = phases.find(state[None], phase)
        state = phases.wanted(state[None], phase)[0]
        np.testing.assert_allclose(state, circle(10.1)[step], atol=1e-6)


def test_motion_that_does_not_close_ends_at_its_last_state(make_spec):
    phases = Phases(Reference((line(),)), make_spec())
    assert phases.loops == {}
    end = phases.find(np.array([[29.0, 0.0]]), np.array([28]))
    np.testing.assert_allclose(phases.wanted(np.array([[29.4, 0.0]]), end), [[29.0, 0.0]])


def test_what_grows_without_bound_is_not_compared(make_spec):
    spec = replace(make_spec(), targets=np.array([1]))
    height = circle(1)[:, 0]
    track = np.column_stack((np.arange(len(height)), height))
    phases = Phases(Reference((track,)), spec)
    far = np.array([[1e6, height[7]]])
    assert phases.distance(far, phases.find(far, np.array([6])))[0] < 1e-9


def test_a_goal_that_differs_between_tracks_decides_which_is_followed(make_spec):
    tracks = tuple(line(20, height) for height in (0.0, 1.0, 2.0))
    phases = Phases(Reference(tracks), make_spec())
    assert phases.find(np.array([[3.0, 2.0]]), NOWHERE) == [43]
