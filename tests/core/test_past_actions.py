import numpy as np
import pytest

from isthmus.core.past_actions import past_actions

ACTIONS = np.array([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]])


def test_the_actions_before_each_come_oldest_first():
    np.testing.assert_array_equal(
        past_actions(ACTIONS, 2), [[0, 0, 0, 0], [0, 0, 1, -1], [1, -1, 2, -2]]
    )  # the present action is not among them


def test_before_the_start_it_was_what_is_given():
    np.testing.assert_array_equal(past_actions(ACTIONS, 1, np.array([7.0, 8.0])), [[7, 8], [1, -1], [2, -2]])
    np.testing.assert_array_equal(past_actions(ACTIONS, 1, 5.0)[0], [5, 5])


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_there_are_as_many_as_were_asked_for(steps):
    assert past_actions(ACTIONS, steps).shape == (3, 2 * steps)
