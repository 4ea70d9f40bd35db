import numpy as np
import pytest
import torch

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.adapt.inverse_network.fit import Batches, fit
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.settings import FitSettings
from isthmus.core import History

SMALL = FitSettings(hidden=(32, 32), epochs=60, patience=60, batch=64, learning_rate=3e-3)
SHORT = FitSettings(hidden=(8,), epochs=3, batch=32)
TARGETS = np.arange(2)


@pytest.fixture(scope="module")
def windows(linear_episodes, make_spec):
    return {k: Windows.of(linear_episodes(24, 30, np.random.default_rng(1)), k, make_spec()) for k in (1, 2)}


def weights(result):
    return result.model.network.arrays()


def held_out_errors(model, windows, labels, settings):
    """Root mean square error of the model on the held-out examples, asked as a robot would ask it."""
    k = windows.history
    _, held_out = windows.split(settings.validation)
    runs = windows.observation_runs[windows.starts[held_out]].reshape(len(held_out), k + 1, -1).astype(np.float64)
    done = windows.action_runs[windows.starts[held_out]].reshape(len(held_out), k, -1).astype(np.float64)
    answers = model(History(runs[:, :k], done[:, : k - 1]), runs[:, k])
    return np.sqrt(np.square(answers - labels[windows.starts[held_out] + k - 1]).mean(axis=0))


@pytest.mark.parametrize(("correction", "k"), [(False, 1), (True, 1), (False, 2)])
def test_a_known_inverse_is_found(windows, make_linear_world, correction, k):
    data = windows[k]
    result = fit(data, TARGETS, SMALL, np.random.default_rng(0), correction=correction)
    labels = data.corrections if correction else data.actions
    assert (result.error < 0.1 * result.action_std).all()
    np.testing.assert_allclose(held_out_errors(result.model, data, labels, SMALL), result.error, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(result.action_std, labels[data.starts + k - 1].std(axis=0), rtol=1e-4)
    if k == 1:  # and it is that of the robot, not only of the data
        world, rng = make_linear_world(50), np.random.default_rng(2)
        before, action = world.reset(rng), rng.uniform(-0.8, 0.8, (50, 2))
        answer = result.model(History.of(before), world.step(action).observations)
        truth = action + before / 4 if correction else action
        assert np.sqrt(np.square(answer - truth).mean()) < 0.15 * truth.std()


def test_without_learning_nothing_is_found(windows):
    """The test above can fail."""
    settings = FitSettings(hidden=(32, 32), epochs=1, batch=64, learning_rate=1e-9)
    result = fit(windows[1], TARGETS, settings, np.random.default_rng(0))
    assert (result.error > 0.5 * result.action_std).all()


def test_the_losses_are_those_of_every_pass_and_the_best_is_kept(windows):
    told = []
    result = fit(
        windows[1], TARGETS, SMALL, np.random.default_rng(0), progress=lambda epoch, loss: told.append((epoch, loss))
    )
    held_out = [loss for _, loss in result.losses]
    assert np.isnan(result.losses[0][0])
    assert all(np.isfinite(pair).all() for pair in result.losses[1:])
    assert result.best == int(np.argmin(held_out)) > 0
    assert told == list(enumerate(held_out))[1:]
    assert np.square(result.error / result.action_std).mean() == pytest.approx(held_out[result.best], rel=1e-4)


def test_the_same_stream_gives_the_same_weights_bit_for_bit(windows):
    threads = torch.get_num_threads()
    try:
        results = []
        for seed, count in ((0, 1), (1, 2)):
            torch.manual_seed(seed)  # torch's own generator and threads must not matter
            torch.set_num_threads(count)
            results.append(fit(windows[2], TARGETS, SHORT, np.random.default_rng(0)))
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    assert results[0].losses[1:] == results[1].losses[1:]
    for name, array in weights(results[0]).items():
        np.testing.assert_array_equal(weights(results[1])[name], array)


def test_another_stream_gives_other_weights(windows):
    first, second = (fit(windows[1], TARGETS, SHORT, np.random.default_rng(seed)) for seed in (0, 1))
    assert (weights(first)["weight_0"] != weights(second)["weight_0"]).any()


def test_a_refit_is_never_worse_than_what_it_started_from(windows):
    good = fit(windows[1], TARGETS, SMALL, np.random.default_rng(0))
    wild = FitSettings(hidden=(32, 32), epochs=3, batch=64, learning_rate=0.99)
    again = fit(windows[1], TARGETS, wild, np.random.default_rng(1), start=good.model)
    assert again.best == 0
    assert min(loss for _, loss in again.losses[1:]) > again.losses[0][1]
    np.testing.assert_allclose(again.error, good.error, rtol=1e-3)
    history, wanted = History.of(np.array([[0.3, -0.2]])), np.array([[0.1, 0.2]])
    np.testing.assert_allclose(again.model(history, wanted), good.model(history, wanted), atol=1e-4)


def test_a_refit_on_more_data_begins_where_the_last_one_ended(windows, linear_episodes, make_spec):
    good = fit(windows[1], TARGETS, SMALL, np.random.default_rng(0))
    more = linear_episodes(24, 30, np.random.default_rng(1)) + linear_episodes(12, 30, np.random.default_rng(9))
    again = fit(Windows.of(more, 1, make_spec()), TARGETS, SHORT, np.random.default_rng(1), start=good.model)
    fresh = fit(Windows.of(more, 1, make_spec()), TARGETS, SHORT, np.random.default_rng(1))
    assert again.losses[0][1] < 0.01
    assert fresh.losses[0][1] > 0.5


def test_refitting_changes_nothing_of_the_model_it_starts_from(windows):
    good = fit(windows[1], TARGETS, SHORT, np.random.default_rng(0))
    before = {name: array.copy() for name, array in weights(good).items()}
    fit(windows[1], TARGETS, SHORT, np.random.default_rng(1), start=good.model)
    for name, array in weights(good).items():
        np.testing.assert_array_equal(array, before[name])


def test_held_out_episodes_are_not_trained_on(windows, monkeypatch):
    trained, watched = [], []
    ask = Batches.__call__

    def listen(self, examples):
        (trained if torch.is_grad_enabled() else watched).append(examples.numpy().copy())
        return ask(self, examples)

    monkeypatch.setattr(Batches, "__call__", listen)
    fit(windows[1], TARGETS, SHORT, np.random.default_rng(0))
    training, held_out = windows[1].split(SHORT.validation)
    assert len(held_out) > 0
    used = np.concatenate(trained)
    assert len(used) == SHORT.epochs * len(training)
    for epoch in used.reshape(SHORT.epochs, -1):  # each example once a pass, in an order of its own
        np.testing.assert_array_equal(np.sort(epoch), training)
        assert (epoch != training).any()
    np.testing.assert_array_equal(np.unique(np.concatenate(watched)), held_out)


def test_it_stops_when_there_is_no_more_progress(windows):
    good = fit(windows[1], TARGETS, SMALL, np.random.default_rng(0))
    wild = FitSettings(hidden=(32, 32), epochs=50, patience=3, batch=64, learning_rate=0.99)
    again = fit(windows[1], TARGETS, wild, np.random.default_rng(1), start=good.model)
    assert (again.best, len(again.losses) - 1) == (0, 3)


def test_a_single_episode_is_enough(linear_episodes, make_spec):
    data = Windows.of(linear_episodes(1, 20, np.random.default_rng(0)), 1, make_spec())
    result = fit(data, TARGETS, SHORT, np.random.default_rng(0))
    assert np.isfinite(result.error).all()


def test_only_the_targets_are_asked_for(windows):
    result = fit(windows[2], np.array([1]), SHORT, np.random.default_rng(0))
    assert result.model.network.input_size == 2 * 2 + 2 + 1
    assert result.model.targets.tolist() == [1]


def test_a_fitted_model_runs_from_its_file(windows, tmp_path):
    result = fit(windows[2], TARGETS, SHORT, np.random.default_rng(0))
    result.model.state().write(tmp_path / "model.npz")
    rng = np.random.default_rng(1)
    history, wanted = History(rng.normal(size=(4, 2, 2)), rng.normal(size=(4, 1, 2))), rng.normal(size=(4, 2))
    np.testing.assert_array_equal(
        InverseNetwork.of_state(MethodState.read(tmp_path / "model.npz", "inverse-model"))(history, wanted),
        result.model(history, wanted),
    )
