from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.core import WorldSpec
from isthmus.core.metric import Metric

SPEC = WorldSpec(
    ("x", "y"), ("a", "b"), np.full(2, -1.0), np.ones(2), control_period=0.1, horizon=10, targets=np.arange(2)
)


@dataclass
class Plant:
    """What is seen next is a function of the action alone."""

    respond: object
    spec: WorldSpec = SPEC
    asked: list[int] = field(default_factory=list)

    def predict(self, _history, actions):
        self.asked.append(len(actions))
        return self.respond(actions)


def inverse(respond, iterations):
    plant = Plant(respond)
    return plant, OneStepInverse(
        plant, SPEC.action_low, SPEC.action_high, Metric.even(np.arange(2), np.ones(2)), iterations
    )


COUPLED = np.array([[1.0, 0.6], [0.6, 1.0]])


def test_where_an_actuator_ends_at_its_limit_the_others_make_up_for_it_in_one_step():
    """Out of reach by the first: clipping what both together would do leaves the second where it is not the best."""
    wanted = np.array([[2.0, 0.9]])
    _, search = inverse(lambda actions: actions @ COUPLED, 1)
    found = search(np.zeros((1, 2)), wanted, np.array([[0.9, 0.0]]))
    tried = np.linspace(-1, 1, 2001)
    costs = np.square(wanted - np.stack([np.ones_like(tried), tried], axis=1) @ COUPLED).sum(axis=1)
    np.testing.assert_allclose(found.actions, [[1.0, tried[costs.argmin()]]], atol=2e-3)
    assert found.limited.all()


def test_where_the_way_is_bent_further_steps_are_taken_and_no_more_than_they_pay():
    def bent(actions):
        return actions @ COUPLED + 0.5 * np.sin(3 * actions)

    goal = np.array([[0.3, -0.6]])
    errors, asked = {}, {}
    for iterations in (1, 4, 50):
        plant, search = inverse(bent, iterations)
        found = search(np.zeros((1, 2)), bent(goal), np.array([[-0.4, 0.2]]))
        errors[iterations], asked[iterations] = np.abs(found.observations - bent(goal)).max(), len(plant.asked)
    assert errors[4] < 0.1 * errors[1]
    assert asked[1] < asked[4] < asked[50] < 60  # it ends by itself


def test_where_derivatives_are_right_one_step_is_all_that_is_paid_for():
    plant, search = inverse(lambda actions: actions @ COUPLED, 4)
    search(np.zeros((3, 2)), np.tile([2.0, 0.9], (3, 1)), np.zeros((3, 2)))
    assert len(plant.asked) == 3  # where it begins, the derivatives, and where it ends


def test_what_is_reached_already_is_not_looked_for():
    plant, search = inverse(lambda actions: actions @ COUPLED, 4)
    start = np.array([[0.4, -0.2]])
    np.testing.assert_array_equal(search(np.zeros((1, 2)), start @ COUPLED, start).actions, start)
    assert len(plant.asked) == 1


def test_a_step_that_leads_astray_is_taken_back_and_tried_shorter():
    def cliff(actions):
        """Steep at first, and far gone a little later."""
        return np.where(actions > 0.2, -3.0, actions)

    _, search = inverse(cliff, 6)
    found = search(np.zeros((1, 2)), np.full((1, 2), 0.7), np.zeros((1, 2)))
    assert (found.observations > 0.1).all()


@pytest.mark.parametrize("others", [1, 4])
def test_what_is_found_does_not_depend_on_the_robots_beside(others):
    rng = np.random.default_rng(0)

    def bent(actions):
        return actions @ COUPLED + 0.5 * np.sin(3 * actions)

    wanted, start = rng.standard_normal((5, 2)), rng.uniform(-1, 1, (5, 2))
    _, search = inverse(bent, 4)
    alone = search(np.zeros((1, 2)), wanted[:1], start[:1])
    beside = search(np.zeros((1 + others, 2)), wanted[: 1 + others], start[: 1 + others])
    np.testing.assert_allclose(beside.actions[:1], alone.actions, rtol=1e-9)


def test_a_change_has_its_price_and_is_made_only_as_far_as_it_is_worth_it():
    """The second actuator hardly does anything: without a price it goes to its limit for next to nothing."""
    weak = np.diag([1.0, 0.01])
    wanted, start = np.array([[0.5, 0.02]]), np.zeros((1, 2))
    free, dear = (
        replace(inverse(lambda actions: actions @ weak, 4)[1], price=price)(np.zeros((1, 2)), wanted, start).actions
        for price in (0.0, 0.01)
    )
    np.testing.assert_allclose(free, [[0.5, 1.0]], atol=1e-3)
    np.testing.assert_allclose(dear, [[0.5 / 1.01, 0.0002 / 0.0101]], rtol=1e-3)
