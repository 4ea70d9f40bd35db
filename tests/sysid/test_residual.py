import numpy as np
import pytest

from isthmus.core import stream
from isthmus.sysid.residual import Steps, fit_residual

TARGETS = np.arange(2)


@pytest.fixture
def simulator(make_linear_world):
    return make_linear_world()


def steps_with(error, simulator, linear_episodes, count=10, length=40):
    """Steps of a target that differs from the simulator by `error` of observations and actions."""
    steps = Steps.of(linear_episodes(count, length, stream(0, "episodes")), simulator)
    np.testing.assert_allclose(steps.expected, steps.reached, atol=1e-12)
    reached = steps.expected + error(steps.observations, steps.applied)
    return Steps(steps.observations, steps.applied, steps.expected, reached, steps.episodes)


def left(residual, steps):
    """The share of the simulator's squared error that a correction leaves."""
    corrected = residual(steps.observations, steps.applied, steps.expected)
    return np.square(corrected - steps.reached).sum() / np.square(steps.expected - steps.reached).sum()


@pytest.mark.parametrize(
    "error",
    [
        lambda o, a: 0.1 * o + 0.2 * a + 0.05,
        lambda o, a: 0.1 * np.sin(o) * a,
    ],
    ids=["linear", "curved"],
)
def test_an_error_that_follows_from_state_and_action_is_learned(error, simulator, linear_episodes):
    steps = steps_with(error, simulator, linear_episodes)
    new = steps_with(error, simulator, linear_episodes, count=3)
    assert left(fit_residual(steps, TARGETS, stream(1)), new) < 0.05


def test_what_cannot_be_predicted_is_left_alone(simulator, linear_episodes):
    steps = steps_with(lambda o, _a: stream(2).standard_normal(o.shape), simulator, linear_episodes)
    residual = fit_residual(steps, TARGETS, stream(1))
    corrected = residual(steps.observations, steps.applied, steps.expected)
    assert np.square(corrected - steps.expected).mean() < 0.02


def test_a_single_episode_proves_nothing(simulator, linear_episodes):
    steps = steps_with(lambda o, a: 0.1 * o + 0.2 * a, simulator, linear_episodes, count=1)
    np.testing.assert_array_equal(fit_residual(steps, TARGETS, stream(1)).weights, 0)


def test_a_simulator_that_is_right_stays_what_it_is(simulator, linear_episodes):
    steps = steps_with(lambda o, _a: np.zeros_like(o), simulator, linear_episodes)
    residual = fit_residual(steps, TARGETS, stream(1))
    np.testing.assert_array_equal(residual(steps.observations, steps.applied, steps.expected), steps.expected)


def test_only_targets_are_corrected_and_where_it_is_makes_no_difference(simulator, linear_episodes):
    steps = steps_with(lambda o, a: 0.1 * o + 0.2 * a, simulator, linear_episodes)
    residual = fit_residual(steps, np.array([1]), stream(1))
    corrected = residual(steps.observations, steps.applied, steps.expected)
    np.testing.assert_array_equal(corrected[:, 0], steps.expected[:, 0])
    away = np.array([100.0, 0.0])
    moved = residual(steps.observations + away, steps.applied, steps.expected + away)
    np.testing.assert_allclose(moved - away, corrected, atol=1e-9)


def test_the_correction_fades_away_from_what_was_recorded(simulator, linear_episodes):
    steps = steps_with(lambda o, _a: np.full_like(o, 0.3), simulator, linear_episodes)
    residual = fit_residual(steps, TARGETS, stream(1))
    seen, applied = steps.observations[:1], steps.applied[:1]
    at_home = residual(seen, applied, steps.expected[:1]) - steps.expected[:1]
    np.testing.assert_allclose(at_home, 0.3, atol=0.02)
    far = seen + 50.0
    np.testing.assert_allclose(residual(far, applied, far), far, atol=1e-9)


def test_an_input_that_varies_by_rounding_alone_does_not_count(simulator, linear_episodes):
    steps = steps_with(lambda o, a: 0.1 * o + 0.2 * a, simulator, linear_episodes)
    still = stream(3).uniform(-1e-15, 1e-15, (2, len(steps.applied), 1)) + 0.4  # a third number that stays at 0.4
    steps = Steps(
        *(np.hstack((steps.observations, still[0])), steps.applied),
        *(np.hstack((steps.expected, still[1])), np.hstack((steps.reached, still[1])), steps.episodes),
    )
    residual = fit_residual(steps, np.arange(3), stream(1))
    nudged = 1e-12 * np.eye(3)[2]
    corrected = residual(steps.observations + nudged, steps.applied, steps.expected)
    assert np.square(corrected - steps.reached).sum() < 0.05 * np.square(steps.expected - steps.reached).sum()
