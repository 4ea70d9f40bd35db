from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common.action_residuals import ActionResiduals
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ar1_filter import AR1Filter
from isthmus.adapt.common.ar1_fit import fit_disturbance
from isthmus.adapt.common.effective_action import EffectiveAction
from isthmus.adapt.common.ridge import error_sizes


def disturbance(spread, lasting, blur=0.05, *, cut=True):
    return AR1Disturbance(np.array([spread]), np.array([lasting]), np.array([blur]), saturates=cut)


def told(values):
    values = np.asarray(values, dtype=float)
    ones = np.ones(values.shape)
    return ActionResiduals(values, np.ones(values.shape, np.bool_), np.zeros(values.shape), ones, ones)


def run(rng, steps, spread, lasting, act=2):
    path = np.empty((steps, act))
    path[0] = spread * rng.standard_normal(act)
    for t in range(1, steps):
        path[t] = lasting * path[t - 1] + np.sqrt(1 - lasting**2) * spread * rng.standard_normal(act)
    return path


def recorded(rng, steps, spread, lasting, *, cut):
    commands, path = rng.uniform(-1.5, 1.5, (steps, 2)), run(rng, steps, spread, lasting)
    done = np.clip(commands + path, -1, 1) if cut else np.clip(commands, -1, 1) + path
    done = done + 0.005 * rng.standard_normal(done.shape)
    found = EffectiveAction(done, done - np.clip(commands, -1, 1), np.ones_like(done))
    return ActionResiduals.of(commands, np.ones(2), found, saturates=cut)


@pytest.mark.parametrize("lasting", [0.0, 0.5, 0.9, 0.98])
@pytest.mark.parametrize(("gain", "noise_scale"), [(1.0, 1.0), (0.4, 1.0), (1.0, 3.0), (1.4, 0.8)])
def test_the_belief_is_the_kalman_filters(lasting, gain, noise_scale, monkeypatch):
    monkeypatch.setattr("isthmus.adapt.common.outliers.OUTLIER_SHARE", 1e-12)
    rng = np.random.default_rng(0)
    model, path = disturbance(1.0, lasting, 0.3), run(rng, 40, 1.0, lasting, 1)[:, 0]
    seen = gain * path + 0.3 * noise_scale * rng.standard_normal(40)
    kalman = AR1Filter(1.0, lasting, 0.3)
    belief, mean, variance = model.start(1), np.zeros(1), np.ones(1)
    for error in seen:
        one = np.ones((1, 1))
        belief, evidence = model.updated(
            belief, ActionResiduals(error * one, one > 0, 0 * one, gain * one, noise_scale * one)
        )
        S = np.sqrt(gain**2 * variance + (0.3 * noise_scale) ** 2)
        density = np.exp(-0.5 * ((error - gain * mean) / S) ** 2) / (S * np.sqrt(2 * np.pi))
        assert evidence[0] == pytest.approx(density, rel=0.05, abs=1e-3)
        h, R = np.array([gain]), np.array([(0.3 * noise_scale) ** 2])
        mean, variance = kalman.update(mean, variance, np.array([error]), h, R)
        assert (belief * model.grid).sum() == pytest.approx(mean[0], abs=0.02)
        belief = model.propagated(belief)
        mean, variance = kalman.predict(mean, variance)


def test_an_error_that_was_cut_off_moves_the_belief_beyond_its_bound_only():
    model = disturbance(1.0, 1.0)
    bound = ActionResiduals(np.array([[0.5]]), np.zeros((1, 1), np.bool_), *np.ones((3, 1, 1)))
    belief, _ = model.updated(model.start(1), bound)
    assert (belief[0, 0] * (model.grid[0] < 0.3)).sum() < 0.05
    above = model.prior * (model.grid[0] > 0.5)
    np.testing.assert_allclose((belief * model.grid).sum(), (above * model.grid[0]).sum() / above.sum(), atol=0.1)


def test_what_does_not_show_tells_nothing():
    model = disturbance(1.0, 1.0)
    hidden = ActionResiduals(np.zeros((1, 1)), np.ones((1, 1), np.bool_), *np.zeros((2, 1, 1)), np.ones((1, 1)))
    belief, _ = model.updated(model.start(1), hidden)
    np.testing.assert_allclose(belief, model.start(1))


@given(st.floats(0.05, 1.5), st.floats(-1, 1))
def test_no_other_command_has_a_smaller_error(noise, wanted):
    z = np.random.default_rng(0).standard_normal(4000)

    def error(command):
        return np.square(np.clip(command + noise * z, -1, 1) - wanted).mean()

    model = disturbance(noise, 0.0)
    asked = model.command(model.start(1), np.array([[wanted]]))[0, 0]
    others = np.linspace(-1 - 3 * noise, 1 + 3 * noise, 41)
    assert error(asked) <= min(error(other) for other in others) + 0.01


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("force", [-1.2, 0.4])
def test_a_known_disturbance_is_made_up_for(force, cut):
    model = disturbance(0.6, 1.0, 0.02, cut=cut)
    belief = model.start(1)
    for _ in range(5):
        belief, _ = model.updated(belief, told([[force]]))
    command = model.command(belief, np.array([[0.3]]))[0, 0]
    assert command + force == pytest.approx(0.3, abs=0.06)


def test_where_nothing_disturbs_what_is_wanted_is_asked_for():
    wanted = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    for cut in (True, False):
        none = AR1Disturbance(np.zeros(2), np.zeros(2), np.zeros(2), saturates=cut)
        np.testing.assert_array_equal(none.command(none.start(5), wanted), wanted)


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("lasting", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_what_disturbs_is_found_out(spread, lasting, cut):
    rng = np.random.default_rng(1)
    runs = [recorded(rng, 60, spread, lasting, cut=cut) for _ in range(30)]
    together = ActionResiduals(
        *(np.concatenate([getattr(one, field.name) for one in runs]) for field in fields(ActionResiduals))
    )
    found = fit_disturbance(together, np.repeat(np.arange(30), 60), error_sizes(together), saturates=cut)
    np.testing.assert_allclose(found.correlation, lasting, atol=0.05)
    np.testing.assert_allclose(found.std, spread, rtol=0.25)
    if lasting:
        assert (found.measurement_std < 0.1 * spread).all()


def test_few_errors_do_not_make_a_disturbance_that_lasts():
    errors = told(0.1 * np.random.default_rng(0).standard_normal((6, 2)))
    found = fit_disturbance(errors, np.zeros(6, np.int64), np.full(2, 0.1), saturates=False)
    np.testing.assert_array_equal(found.correlation, 0.0)


@pytest.mark.parametrize("last", [3900, 4100])
def test_only_the_latest_runs_are_looked_at(last):
    rng = np.random.default_rng(0)
    lengths = (500, 200, last)
    constant = np.repeat((5.0, 0.0, 0.0), lengths)[:, None]
    errors = told(constant + 0.1 * rng.standard_normal((sum(lengths), 1)))
    runs = np.repeat((0, 1, 2), lengths)
    found = fit_disturbance(errors, runs, np.full(1, 0.1), saturates=False)
    looked_at = runs > (0 if last < 4000 else 1)
    alone = fit_disturbance(errors[looked_at], runs[looked_at], np.full(1, 0.1), saturates=False)
    assert found.correlation == alone.correlation
    assert found.measurement_std == alone.measurement_std
