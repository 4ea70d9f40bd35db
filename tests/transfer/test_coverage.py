import numpy as np
import pytest

from isthmus.core import Trajectory, WorldSpec
from isthmus.transfer.coverage import coverage

SPEC = WorldSpec(("angle", "speed", "goal"), ("drive",), np.array([-1.0]), np.array([1.0]), 0.02, 40, np.arange(2))


def episode(rng, low, high, steps=300):
    seen, done = rng.uniform(low, high, (steps + 1, 3)), rng.uniform(-0.4, 0.4, (steps, 1))
    return [Trajectory(seen, done, done, done, seen[1:])]


def test_what_lies_among_the_logs_is_covered_and_raises_no_warning():
    rng = np.random.default_rng(0)
    logs = [episode(rng, -1, 1) for _ in range(4)]
    found = coverage(SPEC, logs, rng.uniform(-0.8, 0.8, (200, 3)), rng.uniform(-0.3, 0.3, (200, 1)))
    assert found.share > 0.9
    assert found.outside == {}
    assert found.warnings() == []


def test_what_lies_beyond_is_named_with_its_share():
    rng = np.random.default_rng(0)
    logs = [episode(rng, -1, 1) for _ in range(4)]
    seen = rng.uniform(-0.5, 0.5, (200, 3))
    seen[:60, 1] = 2.5
    found = coverage(SPEC, logs, seen, np.full((200, 1), 0.2))
    assert found.outside == {"speed": pytest.approx(0.3)}
    assert found.share == pytest.approx(0.7, abs=0.05)
    first, second = found.warnings()
    assert "are far from anything in the logs" in first
    assert second == "speed lies outside the recorded range in 30% of the policy's steps"


def test_the_goal_of_a_task_is_no_state_of_the_robot():
    rng = np.random.default_rng(0)
    seen = rng.uniform(-0.5, 0.5, (50, 3))
    seen[:, 2] = 99.0
    assert coverage(SPEC, [episode(rng, -1, 1), episode(rng, -1, 1)], seen, np.zeros((50, 1))).outside == {}
