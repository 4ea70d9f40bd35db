"""Errors of estimates along walks."""

import numpy as np
import pytest

from isthmus.experiments.blind.walks import HIDDEN, Walks, estimate_errors
from isthmus.robots.anymal import make_anymal


class Off:
    """An estimator that is off by known numbers, and forgets nothing else."""

    def __init__(self, by):
        self.by = by

    def begin(self, sensed, rows):
        return self(sensed, None, rows)

    def __call__(self, sensed, applied, rows):
        return sensed + self.by


def test_errors_are_those_of_height_and_velocity_in_their_own_units():
    task = make_anymal()
    by = np.zeros(task.robot_model.spec.observation_size)
    by[list(HIDDEN.values())] = (0.02, 0.1, -0.2, 0.2)
    found = estimate_errors(task, task.policy, lambda _n: Off(by), "none", Walks(2, 5), 0, pushed=False)
    assert [found[name] for name in HIDDEN] == pytest.approx([0.02, 0.1, 0.2, 0.2])
    assert found["velocity"] == pytest.approx(np.sqrt((0.01 + 0.04 + 0.04) / 3))
    assert found["falls"] == 0.0


def test_a_push_is_part_of_the_truth_that_an_estimate_is_judged_by(monkeypatch):
    monkeypatch.setattr("isthmus.experiments.blind.walks.PUSHED_EVERY", 2)
    task = make_anymal()
    true = estimate_errors(task, task.policy, lambda _n: Off(0.0), "none", Walks(2, 6), 0, pushed=True)
    assert true["velocity"] == 0.0
    first = np.zeros(task.robot_model.spec.observation_size)

    class Blind(Off):
        def __call__(self, sensed, applied, rows):
            shown = sensed.copy()
            shown[:, list(HIDDEN.values())] = first[list(HIDDEN.values())]
            return shown

    still, moved = (
        estimate_errors(task, task.policy, lambda _n: Blind(0.0), "none", Walks(2, 6), 0, pushed=pushed)
        for pushed in (False, True)
    )
    assert moved["velocity"] > still["velocity"] + 0.05
