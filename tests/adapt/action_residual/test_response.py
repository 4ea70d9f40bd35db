from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.action_residual.response_fit import EffectiveSteps, fit_response
from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.effective_action import EffectiveAction
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.common.response import LARGEST, Response
from isthmus.adapt.common.ridge import error_sizes, fit_ridge
from isthmus.adapt.settings import Components
from isthmus.core import Problem
from isthmus.core.past_actions import past_actions
from isthmus.io import load_arrays, save_arrays
from isthmus.robots import load_task

HALF = np.array([1.0, 0.4])
TARGETS = np.array([0, 2])


def response(weights):
    return Response(weights, np.array([0.5, -1.0]), np.array([2.0, 0.5]), HALF, TARGETS, AR1Disturbance.none(2))


def corrected(model, observations, wanted, past):
    return model.correction(observations, wanted, past, model.disturbance.start(len(wanted)))


def drawn(seed, n=5, past=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 3)), rng.uniform(-1, 1, (n, 2)) * HALF, 0.1 * rng.standard_normal((n, past))


@given(st.integers(0, 10_000))
def test_the_corrected_command_has_the_wanted_effect(seed):
    rng = np.random.default_rng(seed)
    observations, wanted, past = drawn(seed)
    model = response(0.05 * rng.standard_normal((1 + 2 + 2 + 2, 2)))
    command = wanted + corrected(model, observations, wanted, past)
    effect = command + HALF * (model.features(observations, command, past) @ model.weights)
    np.testing.assert_allclose(effect, wanted, atol=1e-9)


def test_features_are_one_the_targets_and_commands_in_half_ranges():
    model = replace(response(np.zeros((1 + 2 + 2 + 4, 2))), half_range=np.array([3.0, 0.4]))
    assert model.lookback == 2
    observations, actions = np.array([[1.5, 99.0, -30.0]]), np.array([[1.5, -0.1]])
    past = np.array([[3.0, 0.2, -0.3, 0.4]])  # of two steps, the older first
    expected = [1.0, 0.5, -5.0, 0.5, -0.25, 1.0, 0.5, -0.1, 1.0]  # (-30 + 1) / 0.5 is clipped
    np.testing.assert_allclose(model.features(observations, actions, past), [expected])


def test_what_earlier_commands_still_do_is_learned_in_half_ranges():
    """The effect is 0.7 of a command and 0.3 of the one before it, whatever the ranges are."""
    rng = np.random.default_rng(0)
    half = np.array([3.0, 0.4])
    spec = replace(load_task("reacher").robot_model.spec, action_low=-half, action_high=half)
    runs = []
    for number in range(10):
        seen, actions = rng.standard_normal((60, spec.observation_size)), rng.uniform(-0.6, 0.6, (60, 2)) * half
        past = past_actions(actions, 4)
        errors = -0.3 * actions / half + 0.3 * past[:, -2:] / half + 0.003 * rng.standard_normal((60, 2))
        found = EffectiveAction(actions + half * errors, errors, np.ones((60, 2)))
        runs.append(EffectiveSteps(number, seen, actions, actions, past, found))
    model, _ = fit_response(spec, runs, 2)
    begin = 1 + len(spec.targets)
    np.testing.assert_allclose(model.weights[begin : begin + 2], -0.3 * np.eye(2), atol=0.02)
    np.testing.assert_allclose(model.weights[begin + 2 :], 0.3 * np.eye(2), atol=0.02)
    wanted, before = 0.5 * half[None], 0.2 * half[None]
    command = wanted + model.correction(seen[:1], wanted, before, model.disturbance.start(1))
    np.testing.assert_allclose((0.7 * command + 0.3 * before) / half, wanted / half, atol=0.03)


def test_a_model_that_knows_nothing_changes_nothing():
    observations, wanted, past = drawn(0)
    assert not corrected(response(np.zeros((7, 2))), observations, wanted, past).any()


def test_an_actuator_that_does_not_answer_is_left_alone():
    weights = np.zeros((5, 2))
    weights[0, 0] = 0.5
    weights[3, 0] = -1.0  # the first actuator answers to nothing
    observations, wanted, _ = drawn(1)
    assert not corrected(response(weights), observations, wanted, np.empty((5, 0)))[:, 0].any()


def test_a_correction_is_bounded():
    weights = np.zeros((5, 2))
    weights[0] = 100.0
    observations, wanted, _ = drawn(1)
    found = corrected(response(weights), observations, wanted, np.empty((5, 0)))
    np.testing.assert_allclose(found, np.broadcast_to(-LARGEST * HALF, (5, 2)))


def told_errors(values, told=None):
    told = np.ones(values.shape, np.bool_) if told is None else told
    return ActionResiduals(values, told, np.zeros(values.shape), *np.ones((2, *values.shape)))


def fitted(features, errors, episodes, parts=None):
    act = errors.values.shape[1]
    nothing = np.zeros((features.shape[1], act))
    return fit_ridge(features, errors, episodes, np.zeros(len(features)), AR1Disturbance.none(act), nothing, parts)


def test_a_line_is_found_from_the_rows_that_tell():
    rng = np.random.default_rng(0)
    features = np.hstack((np.ones((400, 1)), rng.standard_normal((400, 3))))
    weights = np.array([[0.2, 0.0], [0.0, -0.3], [0.1, 0.0], [0.0, 0.0]])
    errors = features @ weights + 0.01 * rng.standard_normal((400, 2))
    told = rng.random((400, 2)) < 0.7
    errors[~told] = 50.0
    found = fitted(features, told_errors(errors, told), np.arange(400) // 40)
    np.testing.assert_allclose(found.weights, weights, atol=0.01)
    assert (found.rmse < 0.015).all()
    assert (found.baseline_rmse > 0.2).all()


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_not_learned(seed):
    rng = np.random.default_rng(seed)
    features = np.hstack((np.ones((300, 1)), rng.standard_normal((300, 40))))
    errors = rng.standard_normal((300, 2))
    found = fitted(features, told_errors(errors), np.arange(300) // 30)
    assert np.sqrt(np.square(features @ found.weights).mean()) < 0.15 * found.baseline_rmse.mean()
    credulous = fitted(features, told_errors(errors), np.arange(300) // 30, Components(cross_validation=False))
    assert np.sqrt(np.square(features @ credulous.weights).mean()) > 0.3 * found.baseline_rmse.mean()


def test_what_lasts_for_an_episode_is_learned_from_the_past_and_not_as_a_constant():
    rng = np.random.default_rng(0)
    episodes = np.repeat(np.arange(8), 50)
    lasting = rng.standard_normal(8)[episodes]
    features = np.stack((np.ones(400), lasting + 0.05 * rng.standard_normal(400)), axis=1)
    found = fitted(features, told_errors(lasting[:, None]), episodes)
    assert abs(found.weights[0, 0]) < 0.05
    assert found.weights[1, 0] == pytest.approx(1.0, abs=0.05)


def test_few_rows_teach_nothing():
    found = fitted(np.ones((19, 1)), told_errors(np.ones((19, 1))), np.zeros(19, np.int64))
    assert not found.weights.any()
    assert found.rmse == found.baseline_rmse == 1.0


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_errors_that_were_cut_off_are_reckoned_with(spread):
    rng = np.random.default_rng(1)
    asked = rng.uniform(-0.9, 0.9, 20_000)
    slope = 0.3 * rng.standard_normal(20_000)
    done = np.clip(asked + slope + spread * rng.standard_normal(20_000), -1, 1)
    cut = np.abs(done) == 1
    features = np.stack((np.ones(20_000), slope), axis=1)
    side = np.where(cut, np.sign(done), 0.0)[:, None]
    seeing = ActionResiduals((done - asked)[:, None], ~cut[:, None], side, *np.ones((2, 20_000, 1)))
    blind = replace(seeing, censoring=0 * side)
    episodes = np.arange(20_000) // 100
    known = AR1Disturbance(np.full(1, spread), np.zeros(1), np.zeros(1), saturates=True)
    weights = np.zeros((2, 1))
    for _ in range(6):
        weights = fit_ridge(features, seeing, episodes, episodes, known, weights).weights
    np.testing.assert_allclose(weights[:, 0], [0.0, 1.0], atol=0.05)
    assert fitted(features, blind, episodes).weights[1, 0] < 0.9
    # A little short, where nothing is odd: some of the largest errors are taken to be.
    assert error_sizes(seeing.less(slope[:, None])) == pytest.approx(spread, rel=0.05)
    assert error_sizes(blind.less(slope[:, None])) < 0.95 * spread


def test_a_few_odd_errors_do_not_make_a_disturbance_larger():
    """Commands far beyond the limit, whose effect was taken to be a little short of it."""
    rng = np.random.default_rng(0)
    asked = rng.uniform(-5, 5, (3000, 1))
    done = np.clip(asked + rng.standard_normal((3000, 1)), -1, 1)
    cut, short = np.abs(done) == 1, rng.random((3000, 1)) < 0.02
    errors = ActionResiduals(
        done - asked - 0.2 * short * np.sign(done), ~cut | short, np.sign(done) * (cut & ~short), *np.ones((2, 3000, 1))
    )
    assert error_sizes(errors) == pytest.approx(1.0, rel=0.1)


def test_where_every_told_error_is_odd_nothing_is_learned_and_nothing_breaks():
    rng = np.random.default_rng(0)
    values = np.column_stack((np.full(60, 5.0), rng.uniform(0, 0.5, 60))).reshape(-1, 1)
    told = np.tile([True, False], 60)[:, None]
    errors = ActionResiduals(values, told, np.where(told, 0.0, 1.0), *np.ones((2, 120, 1)))
    known = AR1Disturbance(np.full(1, 0.01), np.zeros(1), np.full(1, 0.001), saturates=True)
    found = fit_ridge(rng.standard_normal((120, 3)), errors, np.arange(120) // 12, np.zeros(120, int), known)
    assert not found.weights.any()
    assert np.isfinite(found.nll).all()


def test_a_command_that_makes_up_for_what_lasts_is_not_taken_for_its_cause():
    rng = np.random.default_rng(0)
    runs = np.repeat(np.arange(10), 40)
    lasting = rng.standard_normal(10)[runs]
    command = 0.3 * rng.standard_normal(400) - lasting
    features, errors = np.stack((np.ones(400), command), axis=1), told_errors(lasting[:, None])
    known = AR1Disturbance(np.ones(1), np.ones(1), np.full(1, 0.05), saturates=False)
    naive = fitted(features, errors, runs).weights[1, 0]
    wise = fit_ridge(features, errors, runs, runs, known, np.zeros((2, 1))).weights[1, 0]
    assert naive < -0.8
    assert abs(wise) < 0.1


def test_a_model_is_read_as_it_was_written(tmp_path):
    model = response(np.random.default_rng(0).standard_normal((7, 2)))
    model.state().write(tmp_path / "model.npz")
    again = Response.of_state(MethodState.read(tmp_path / "model.npz", "response-model"))
    observations, wanted, past = drawn(0)
    np.testing.assert_array_equal(
        corrected(again, observations, wanted, past), corrected(model, observations, wanted, past)
    )


@pytest.mark.parametrize("name", ["weights", "mean", "scale", "half_range", "spread", "lasting", "blur", "targets"])
def test_a_damaged_model_is_refused(tmp_path, name):
    from isthmus.io import load_arrays, save_arrays

    response(np.zeros((7, 2))).state().write(tmp_path / "model.npz")
    arrays, meta = load_arrays(tmp_path / "model.npz", "response-model")
    save_arrays(tmp_path / "cut.npz", arrays | {name: arrays[name].T[:-1]}, meta)
    with pytest.raises(Problem, match="damaged"):
        Response.of_state(MethodState.read(tmp_path / "cut.npz", "response-model"))


def test_what_lasts_is_followed_and_what_depends_on_the_state_is_not():
    rng, act = np.random.default_rng(0), 3
    task = load_task("hopper")
    runs = []
    for episode in range(10):
        walk = np.cumsum(0.3 * rng.standard_normal((60, 12)), axis=0)  # states that last, as they do
        commands, force = rng.uniform(-1, 1, (60, act)), 0.1 * rng.standard_normal(act)
        error = np.column_stack((np.full(60, force[0]), 0.1 * walk[:, 3], force[2] + 0.1 * walk[:, 4]))
        found = EffectiveAction(commands + error, error, np.ones((60, act)))
        runs.append(EffectiveSteps(episode, walk, commands, commands, past_actions(commands, 4), found))
    response, lines = fit_response(task.robot_model.spec, runs, 2)
    assert (response.disturbance.correlation[[0, 2]] > 0).all()
    assert (lines.rmse < 0.2 * lines.baseline_rmse).all()
    alone, left_alone = fit_response(task.robot_model.spec, runs, 1)
    assert not alone.disturbance.correlation.any()
    assert (left_alone.rmse[[0, 2]] > 2 * lines.rmse[[0, 2]]).all()
    assert not fit_response(task.robot_model.spec, runs, 2, Components(observer=False))[0].disturbance.correlation.any()
    assert not fit_response(task.robot_model.spec, runs, 2, Components(regression=False))[0].weights.any()


def test_what_lasts_is_followed_though_a_few_errors_are_odd():
    rng, act = np.random.default_rng(0), 3
    task = load_task("hopper")
    runs = []
    for episode in range(10):
        seen, commands = rng.standard_normal((60, 12)), rng.uniform(-3, 3, (60, act))
        before_limit = commands + rng.standard_normal(act) + 0.003 * rng.standard_normal((60, act))
        odd = rng.random((60, act)) < 0.02
        done = np.clip(before_limit + odd * rng.uniform(-1, 1, (60, act)), -1, 1)
        actions = np.clip(commands, -1, 1)
        found = EffectiveAction(done, done - actions, np.ones((60, act)))
        runs.append(EffectiveSteps(episode, seen, commands, actions, past_actions(actions, 4), found))
    response, lines = fit_response(task.robot_model.spec, runs, 2)
    assert (response.disturbance.correlation > 0.9).all()
    assert (lines.rmse < 0.5 * lines.baseline_rmse).all()


@pytest.mark.parametrize("history", [1, 2])
def test_an_actuator_whose_commands_come_late_is_left_alone(history):
    rng, task, runs = np.random.default_rng(0), load_task("hopper"), []
    for episode in range(10):
        commands = np.sin(np.arange(60) / 4)[:, None] * rng.uniform(0.3, 1, 3) + 0.05 * rng.standard_normal((60, 3))
        done = np.column_stack((np.pad(commands[:-2, 0], (2, 0)), 0.7 * commands[:, 1], commands[:, 2] + 0.1))
        found = EffectiveAction(done, done - commands, np.ones((60, 3)))
        seen = np.cumsum(rng.standard_normal((60, 12)), axis=0)
        runs.append(EffectiveSteps(episode, seen, commands, commands, past_actions(commands, 4), found))
    response, _ = fit_response(task.robot_model.spec, runs, history)
    np.testing.assert_array_equal(response.weights[:, 0], 0)
    assert response.disturbance.std[0] == 0
    assert np.abs(response.weights[:, 1:]).max(axis=0).all()


def test_an_actuator_that_seems_to_answer_in_reverse_is_left_alone():
    weights = np.zeros((5, 2))
    weights[0], weights[3, 0] = 0.5, -1.4
    observations, wanted, _ = drawn(1)
    found = corrected(response(weights), observations, wanted, np.empty((5, 0)))
    assert not found[:, 0].any()
    np.testing.assert_allclose(found[:, 1], -0.5 * HALF[1])


@pytest.mark.parametrize("cut", [False, True])
def test_ranges_that_are_not_about_zero_are_the_same_from_their_middle(cut):
    """An actuator that only pulls: 0 to 2 instead of -1 to 1."""
    middle, disturbance = (
        np.array([1.0, -3.0]),
        AR1Disturbance(np.full(2, 0.3), np.ones(2), np.full(2, 0.01), saturates=cut),
    )
    about_zero = replace(response(0.1 * np.eye(7, 2)), disturbance=disturbance)
    shifted = replace(about_zero, middle=middle)
    observations, wanted, past = drawn(3)
    belief, asked = disturbance.start(5), 2.5 * wanted
    np.testing.assert_allclose(shifted.within(asked + middle), about_zero.within(asked) + middle)
    np.testing.assert_allclose(shifted.effect(asked + middle, belief), about_zero.effect(asked, belief) + middle)
    np.testing.assert_allclose(
        corrected(shifted, observations, wanted + middle, past), corrected(about_zero, observations, wanted, past)
    )
    found = EffectiveAction(about_zero.within(asked), np.zeros_like(asked), np.ones_like(asked))
    told, expected = (
        model.unexplained(
            observations, asked + model.middle, past, replace(found, actions=found.actions + model.middle)
        )
        for model in (shifted, about_zero)
    )
    for name in ("values", "observed", "censoring"):
        np.testing.assert_allclose(getattr(told, name), getattr(expected, name))


def test_noise_that_is_cut_off_is_found_where_a_range_is_not_about_zero():
    rng = np.random.default_rng(0)
    spec = load_task("reacher").robot_model.spec
    pulls = replace(spec, action_low=np.zeros(2), action_high=np.full(2, 2.0))
    seen, asked = rng.standard_normal((600, spec.observation_size)), rng.uniform(-1, 1, (600, 2))
    done = np.clip(asked + 0.5 * rng.standard_normal(asked.shape), -1, 1)
    found = []
    for limits in (spec, pulls):
        middle = limits.middle
        explained = EffectiveAction(done + middle, done - asked, np.ones_like(asked))
        past = past_actions(asked + middle, 4)
        run = EffectiveSteps(0, seen, asked + middle, asked + middle, past, explained)
        found.append(fit_response(limits, [run], 1)[0].disturbance)
    assert [one.saturates for one in found] == [True, True]
    np.testing.assert_allclose(found[1].std, found[0].std, rtol=0.05)


def test_a_model_of_ranges_that_are_not_about_zero_is_saved_and_an_earlier_file_is_read(tmp_path):
    model = replace(response(np.zeros((7, 2))), middle=np.array([1.0, -3.0]))
    model.state().write(tmp_path / "model.npz")
    np.testing.assert_array_equal(
        Response.of_state(MethodState.read(tmp_path / "model.npz", "response-model")).middle, model.middle
    )
    arrays, meta = load_arrays(tmp_path / "model.npz", "response-model")
    del arrays["middle"]
    save_arrays(tmp_path / "earlier.npz", arrays, meta)
    assert not Response.of_state(MethodState.read(tmp_path / "earlier.npz", "response-model")).middle.any()
