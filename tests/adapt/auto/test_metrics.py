import numpy as np
import pytest

from isthmus.adapt.auto.metrics import ALIKE, EVEN, ROOT, differ, other_metrics, some_states
from isthmus.adapt.common.cost_to_go import LinearCourse, LinearCourses
from isthmus.core import Trajectory
from isthmus.core.metric import Metric
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer.source.source import make_source


def test_metrics_are_only_worked_out_when_they_are_asked_for():
    source = make_source(load_task("hopper"), ZeroPolicy(3), 0)
    names = list(other_metrics(source))
    assert names[0] == "expected cost-to-go at 0.97"
    assert {EVEN, ROOT} < {*names}
    assert not {"courses", "cost_to_go"} & vars(source).keys()


def drawn(rng, d=3, act=2, steps=40):
    states = 0.5 * rng.standard_normal((steps, d, d))
    return LinearCourse(states, rng.standard_normal((steps, d, act)))


@pytest.mark.parametrize("expected", [True, False])
def test_costs_are_averaged_as_they_are_or_at_unit_trace(expected):
    rng = np.random.default_rng(0)
    courses = tuple(drawn(rng) for _ in range(2))
    metric = LinearCourses(Metric.even(np.arange(3), np.ones(3)), courses).cost_to_go(0.9, expected=expected)
    costs = [one for course in courses for one in course.costs(0.9)]
    traces = np.array([np.trace(one) for one in costs])
    weights = np.mean(costs, axis=0) / traces.mean()
    if not expected:
        weights = np.mean([one / trace for one, trace in zip(costs, traces, strict=True)], axis=0)
    np.testing.assert_allclose(metric.root @ metric.root.T, weights, atol=1e-9)
    assert metric.effort == pytest.approx(1 / traces.mean() if expected else (1 / traces).mean())


def test_a_smaller_discount_looks_less_far_ahead():
    course = LinearCourse(np.tile(1.2 * np.eye(2), (50, 1, 1)), np.zeros((50, 2, 1)))
    near, far = (np.trace(course.costs(discount)[-1]) for discount in (0.5, 0.6))
    assert near == pytest.approx(2 / (1 - 0.5 * 1.44), rel=1e-3)
    assert far > near


@pytest.mark.parametrize(("away", "different"), [(0.9 * ALIKE, False), (1.1 * ALIKE, True)])
def test_commands_differ_by_what_the_actuators_make_of_them(away, different):
    spec = load_task("hopper").robot_model.spec
    ours = np.zeros((4, 3))
    assert differ(spec, ours, ours + away * spec.half_range) is different
    assert not differ(spec, ours + 2 * spec.half_range, ours + 3 * spec.half_range)  # beyond the limit


def test_states_are_taken_from_all_over_the_records():
    def walked(begin, steps):
        seen = np.arange(begin, begin + steps + 1.0)[:, None]
        still = np.zeros((steps, 1))
        return [Trajectory(seen, still, still, still, seen[1:])]

    found = some_states([walked(0, 600), walked(1000, 600)])
    assert len(found) <= 256
    assert found[0] == 0
    assert found[-1] > 1500
    assert len(some_states([walked(0, 100)])) == 100
