import dataclasses

import numpy as np
import pytest

from isthmus.core import Step


def test_parts_that_fit_are_a_step():
    step = Step(np.zeros((3, 4)), np.ones((3, 2)), np.zeros(3, np.bool_))
    assert step.applied.shape == (3, 2)


@pytest.mark.parametrize(
    ("observations", "applied", "ended"),
    [
        ((3,), (3, 2), (3,)),
        ((3, 4, 1), (3, 2), (3,)),
        ((3, 4), (3,), (3,)),
        ((3, 4), (2, 2), (3,)),
        ((3, 4), (3, 2), (2,)),
        ((3, 4), (3, 2), (3, 1)),
    ],
)
def test_parts_that_do_not_fit_are_refused(observations, applied, ended):
    with pytest.raises(ValueError, match=r"must be|ended has shape"):
        Step(np.zeros(observations), np.zeros(applied), np.zeros(ended, np.bool_))


def test_nothing_can_be_added_to_a_step():
    step = Step(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1, np.bool_))
    with pytest.raises(dataclasses.FrozenInstanceError):
        step.ended = np.ones(1, np.bool_)
    with pytest.raises((AttributeError, TypeError)):
        step.reward = 1.0
    assert not hasattr(step, "__dict__")
