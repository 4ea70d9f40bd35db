"""What holds for every simulator: it can be put where an observation says, and it predicts."""

import re

import numpy as np
import pytest

from isthmus.core import History, Simulator

pytestmark = pytest.mark.parametrize("n", [1, 5])
DERIVED = re.compile("fingertip - target|inertia|com velocity|actuator force|contact force")
"""Observations that MuJoCo leaves a substep behind the state."""


def random_actions(simulator, rng, n=None):
    spec = simulator.spec
    middle = (spec.action_low + spec.action_high) / 2
    return middle + 1.5 * spec.half_range * rng.uniform(-1, 1, (n or simulator.n, spec.action_size))


def after_some_steps(simulator, rng, steps=4):
    observations = simulator.reset(rng)
    for _ in range(steps):
        observations = simulator.step(random_actions(simulator, rng)).observations
    return observations


def test_it_is_a_simulator(make_simulator, n):
    assert isinstance(make_simulator(n), Simulator)


def test_the_start_of_an_episode_can_be_put_back(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations = simulator.reset(rng)
    placed = make_simulator(n).place(observations)
    np.testing.assert_allclose(placed, observations, rtol=0, atol=1e-12)
    np.testing.assert_allclose(make_simulator(n).place(placed), placed, rtol=0, atol=1e-12)


def test_any_state_can_be_put_back(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations = after_some_steps(simulator, rng)
    state = [i for i, name in enumerate(simulator.spec.observation_names) if not DERIVED.search(name)]
    placed = make_simulator(n).place(observations)
    np.testing.assert_allclose(placed[:, state], observations[:, state], rtol=0, atol=1e-12)


def test_placing_changes_nothing_that_was_given(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations = simulator.reset(rng)
    before = observations.copy()
    simulator.place(observations)
    simulator.step(random_actions(simulator, rng))
    np.testing.assert_array_equal(observations, before)


def test_a_placed_simulation_forgets_its_past(make_simulator, n, rng):
    simulator, fresh = make_simulator(n), make_simulator(n)
    observations = after_some_steps(simulator, rng)
    np.testing.assert_array_equal(simulator.place(observations), fresh.place(observations))
    for _ in range(3):
        actions = random_actions(simulator, rng)
        np.testing.assert_array_equal(simulator.step(actions).observations, fresh.step(actions).observations)


def test_a_prediction_is_what_placing_and_stepping_gives(make_simulator, n, rng):
    simulator, other = make_simulator(n), make_simulator(n)
    observations, actions = after_some_steps(simulator, rng), random_actions(simulator, rng)
    predicted = simulator.predict(History.of(observations), actions)
    other.place(observations)
    np.testing.assert_array_equal(predicted, other.step(actions).observations)


def test_a_prediction_is_what_the_running_world_does_next(make_simulator, n, rng):
    """Up to what the contact solver remembers of the step before."""
    simulator = make_simulator(n)
    observations, actions = after_some_steps(simulator, rng), random_actions(simulator, rng)
    predicted = simulator.predict(History.of(observations), actions)
    np.testing.assert_allclose(predicted, simulator.step(actions).observations, rtol=1e-4, atol=1e-4)


def test_predicting_does_not_disturb_the_running_world(make_simulator, n, rng):
    simulator, undisturbed = make_simulator(n), make_simulator(n)
    observations = simulator.reset(np.random.default_rng(0))
    undisturbed.reset(np.random.default_rng(0))
    for batch in (n, 1, 3):
        elsewhere = np.repeat(observations[:1], batch, axis=0)
        simulator.predict(History.of(elsewhere), random_actions(simulator, rng, batch))
        actions = random_actions(simulator, rng)
        observations = simulator.step(actions).observations
        np.testing.assert_array_equal(observations, undisturbed.step(actions).observations)


def test_predicting_changes_nothing_that_was_given(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations, actions = simulator.reset(rng), random_actions(simulator, rng)
    before = observations.copy(), actions.copy()
    predicted = simulator.predict(History.of(observations), actions)
    kept = predicted.copy()
    simulator.predict(History.of(observations), actions + 0.1)
    np.testing.assert_array_equal(observations, before[0])
    np.testing.assert_array_equal(actions, before[1])
    np.testing.assert_array_equal(predicted, kept)


def test_a_prediction_does_not_depend_on_its_company(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations, actions = after_some_steps(simulator, rng), random_actions(simulator, rng)
    together = simulator.predict(History.of(observations), actions)
    for i in range(n):
        alone = simulator.predict(History.of(observations[i : i + 1]), actions[i : i + 1])
        np.testing.assert_allclose(alone[0], together[i], rtol=0, atol=1e-12)


def test_a_prediction_does_not_depend_on_predictions_before(make_simulator, n, rng):
    simulator = make_simulator(n)
    observations, actions = after_some_steps(simulator, rng), random_actions(simulator, rng)
    first = simulator.predict(History.of(observations), actions)
    simulator.predict(History.of(simulator.reset(rng)), -actions)
    np.testing.assert_array_equal(simulator.predict(History.of(observations), actions), first)


def test_who_asks_again_is_told_the_same_and_who_does_not_is_told_anew(make_simulator, n, rng):
    simulator, fresh = make_simulator(n), make_simulator(n)
    observations, actions = after_some_steps(simulator, rng), random_actions(simulator, rng)
    told = simulator.predict(History.of(observations), actions)
    told[:] = np.nan  # what is told is the asker's
    actions[0] = -actions[0]
    for _ in range(2):
        again = simulator.predict(History.of(observations), actions)
        np.testing.assert_array_equal(again, fresh.predict(History.of(observations), actions))
