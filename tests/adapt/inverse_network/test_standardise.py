import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.inverse_network import standardise
from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.core import Trajectory

OBS, ACT = 3, 2
SEEDS = st.integers(0, 2**32)


def random_windows(spec, k, rng, constant=None):
    def trajectory(steps, context):
        seen = rng.normal(loc=[0, 5, -3], scale=[1, 0.1, 4], size=(steps + 1, OBS))
        if constant is not None:
            seen[:, constant] = 0.7
        done = rng.uniform(-1, 1, (steps, ACT))
        return Trajectory(seen, done, done, rng.uniform(-1, 1, (steps, ACT)), seen[1:], context)

    return Windows.of([[trajectory(int(rng.integers(3, 9)), int(rng.integers(0, 3)))] for _ in range(4)], k, spec)


def examples(windows, labels, targets):
    """Inputs and labels of every example, one by one, in float64."""
    k, inputs, wanted = windows.history, [], []
    for start in windows.starts:
        seen = windows.observations[start : start + k + 1].astype(np.float64)
        done = windows.actions[start : start + k - 1].astype(np.float64)
        inputs.append(np.concatenate((seen[:k].ravel(), done.ravel(), (seen[k] - seen[k - 1])[targets])))
        wanted.append(labels[start + k - 1].astype(np.float64))
    return np.array(inputs), np.array(wanted)


@given(SEEDS, st.sampled_from([np.arange(OBS), np.array([1]), np.array([0, 2])]), st.booleans())
def test_statistics_are_mean_and_spread_of_the_examples(make_spec, seed, targets, correction):
    windows = random_windows(make_spec(OBS, ACT), 1, np.random.default_rng(seed))
    labels = windows.corrections if correction else windows.actions
    statistics = Statistics.of(windows, targets, labels)
    inputs, wanted = examples(windows, labels, targets)
    np.testing.assert_allclose(statistics.input_mean, inputs.mean(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(statistics.input_scale, inputs.std(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(statistics.output_mean, wanted.mean(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(statistics.output_scale, wanted.std(axis=0), rtol=1e-6, atol=1e-9)


@given(SEEDS, st.integers(2, 4), st.sampled_from([np.arange(OBS), np.array([0, 2])]))
def test_every_place_in_a_history_has_the_statistics_of_the_present(make_spec, seed, k, targets):
    """So that the same reading means the same to the network wherever in the window it stands."""
    windows = random_windows(make_spec(OBS, ACT), k, np.random.default_rng(seed))
    statistics = Statistics.of(windows, targets, windows.actions)
    inputs, wanted = examples(windows, windows.actions, targets)
    now = slice((k - 1) * OBS, k * OBS)
    for mean_or_std, values in ((np.mean, statistics.input_mean), (np.std, statistics.input_scale)):
        expected = np.concatenate(
            (
                np.tile(mean_or_std(inputs[:, now], axis=0), k),
                np.tile(mean_or_std(wanted, axis=0), k - 1),
                mean_or_std(inputs[:, -len(targets) :], axis=0),
            )
        )
        np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("chunk", [1, 3, 10**6])
def test_the_size_of_the_chunks_does_not_matter(make_spec, monkeypatch, rng, chunk):
    windows = random_windows(make_spec(OBS, ACT), 2, rng)
    before = Statistics.of(windows, np.arange(OBS), windows.actions)
    monkeypatch.setattr(standardise, "CHUNK", chunk)
    after = Statistics.of(windows, np.arange(OBS), windows.actions)
    np.testing.assert_allclose(after.input_scale, before.input_scale, rtol=1e-12)
    np.testing.assert_allclose(after.input_mean, before.input_mean, rtol=1e-12)


def test_what_never_varies_is_not_scaled(make_spec, rng):
    windows = random_windows(make_spec(OBS, ACT), 1, rng, constant=1)
    statistics = Statistics.of(windows, np.arange(OBS), windows.actions)
    assert statistics.input_mean[[1, 4]] == pytest.approx([0.7, 0.0])
    assert statistics.input_scale[[1, 4]].tolist() == [1.0, 1.0]


def test_a_small_change_of_a_large_number_is_seen(make_spec, rng):
    """A spread a thousand times below the mean is not lost in rounding."""
    done = rng.uniform(-1, 1, (2000, ACT))
    seen = 1000.0 + rng.normal(size=(2001, OBS))
    windows = Windows.of([[Trajectory(seen, done, done, done, seen[1:])]], 1, make_spec(OBS, ACT))
    statistics = Statistics.of(windows, np.arange(OBS), windows.actions)
    np.testing.assert_allclose(statistics.input_scale[:OBS], 1.0, rtol=0.1)
    np.testing.assert_allclose(statistics.input_scale[OBS:], np.sqrt(2), rtol=0.1)


@given(st.integers(1, 6), st.lists(st.integers(1, 8), min_size=1, max_size=3), st.integers(1, 3), SEEDS)
def test_adopting_a_network_leaves_its_function_unchanged(random_mlp, inputs, hidden, outputs, seed):
    rng = np.random.default_rng(seed)
    network = random_mlp((inputs, *hidden, outputs), rng)
    statistics = Statistics(
        rng.normal(size=inputs),
        rng.uniform(0.2, 5.0, inputs),
        rng.normal(size=outputs),
        rng.uniform(0.2, 5.0, outputs),
    )
    adopted = statistics.adopt(network)
    for name in ("input_mean", "input_scale", "output_mean", "output_scale"):
        np.testing.assert_array_equal(getattr(adopted, name), getattr(statistics, name))
    questions = rng.normal(scale=3.0, size=(20, inputs))
    answers = network(questions)
    scale = np.abs(answers).max() + 1.0
    np.testing.assert_allclose(adopted(questions), answers, rtol=1e-4, atol=1e-4 * scale)


def test_adopting_changes_nothing_of_the_network_itself(random_mlp, rng):
    network = random_mlp((3, 8, 2), rng)
    before = {name: array.copy() for name, array in network.arrays().items()}
    Statistics(np.ones(3), np.full(3, 2.0), np.ones(2), np.full(2, 3.0)).adopt(network)
    for name, array in network.arrays().items():
        np.testing.assert_array_equal(array, before[name])
