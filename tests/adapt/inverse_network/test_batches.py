"""What a network is trained on is what it is asked when it runs."""

import numpy as np
import pytest
import torch

from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.adapt.inverse_network.fit import Batches, initial_network, to_numpy, to_torch
from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.core import History, Trajectory

OBS, ACT = 4, 2
TARGETS = [np.arange(OBS), np.array([2]), np.array([0, 3]), np.array([1, 3])]


def episodes(rng):
    def trajectory(steps, context):
        return Trajectory(
            rng.normal(loc=2, size=(steps + 1, OBS)),
            rng.normal(size=(steps, ACT)),
            rng.uniform(-1, 1, (steps, ACT)),
            rng.normal(size=(steps, ACT)),
            rng.normal(size=(steps, OBS)),
            context,
        )

    return [[trajectory(7, 0), trajectory(2, 1)], [trajectory(4, 2)], [trajectory(1, 0)]]


def histories(episodes, k):
    """The history, what was reached and the step of every example, built by hand from the trajectories."""
    for episode in episodes:
        for one in episode:
            for t in range(one.context, len(one)):
                rows = np.maximum(np.arange(t - k + 1, t + 1), 0)
                done = np.array([one.applied[s] if s >= 0 else np.zeros(ACT) for s in range(t - k + 1, t)])
                history = History(one.observations[rows][None], done.reshape(1, k - 1, ACT))
                yield history, one.observations[t + 1 : t + 2], one, t


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("targets", TARGETS, ids=str)
@pytest.mark.parametrize("correction", [False, True])
def test_training_and_running_see_the_same_numbers(make_spec, rng, k, targets, correction):
    spec, recorded = make_spec(OBS, ACT), episodes(rng)
    windows = Windows.of(recorded, k, spec)
    labels = windows.corrections if correction else windows.actions
    statistics = Statistics.of(windows, targets, labels)
    batches = Batches(windows, targets, labels, statistics)
    network = initial_network(statistics, (16, 16), rng)
    inverse = InverseNetwork(network, k, targets)
    with torch.no_grad():
        inputs, wanted = batches(torch.arange(len(windows)))
        answers = to_torch(network)(inputs).numpy() * statistics.output_scale + statistics.output_mean
    wanted = wanted.numpy() * statistics.output_scale + statistics.output_mean
    assert inputs.shape == (len(windows), k * OBS + (k - 1) * ACT + len(targets))
    for i, (history, reached, one, t) in enumerate(histories(recorded, k)):
        np.testing.assert_allclose(answers[i], inverse(history, reached)[0], rtol=1e-5, atol=1e-5)
        label = one.applied[t] - spec.clip(one.source[t : t + 1])[0] if correction else one.applied[t]
        np.testing.assert_allclose(wanted[i], label, rtol=1e-5, atol=1e-6)


def test_a_longer_history_than_is_looked_at_makes_no_difference(make_spec, rng):
    windows = Windows.of(episodes(rng), 2, make_spec(OBS, ACT))
    statistics = Statistics.of(windows, np.arange(OBS), windows.actions)
    inverse = InverseNetwork(initial_network(statistics, (16,), rng), 2, np.arange(OBS))
    history = History(rng.normal(size=(3, 5, OBS)), rng.normal(size=(3, 4, ACT)))
    wanted = rng.normal(size=(3, OBS))
    np.testing.assert_array_equal(inverse(history, wanted), inverse(history.last(2), wanted))


def test_inputs_and_labels_are_standardised(make_spec, rng):
    windows = Windows.of(episodes(rng), 1, make_spec(OBS, ACT))
    statistics = Statistics.of(windows, np.arange(OBS), windows.actions)
    inputs, labels = Batches(windows, np.arange(OBS), windows.actions, statistics)(torch.arange(len(windows)))
    for values in (inputs.numpy(), labels.numpy()):
        np.testing.assert_allclose(values.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(values.std(axis=0), 1, atol=1e-5)


def test_a_batch_is_in_the_order_of_its_examples_and_changes_no_data(make_spec, rng):
    windows = Windows.of(episodes(rng), 2, make_spec(OBS, ACT))
    before = windows.observations.copy(), windows.actions.copy()
    statistics = Statistics.of(windows, np.array([1]), windows.actions)
    batches = Batches(windows, np.array([1]), windows.actions, statistics)
    inputs, labels = batches(torch.arange(len(windows)))
    order = torch.tensor([3, 0, 3])
    some_inputs, some_labels = batches(order)
    assert torch.equal(some_inputs, inputs[order])
    assert torch.equal(some_labels, labels[order])
    np.testing.assert_array_equal(windows.observations, before[0])
    np.testing.assert_array_equal(windows.actions, before[1])


def test_a_network_is_the_same_in_torch_and_back(make_spec, rng):
    windows = Windows.of(episodes(rng), 2, make_spec(OBS, ACT))
    statistics = Statistics.of(windows, np.arange(OBS), windows.actions)
    network = initial_network(statistics, (8, 5), rng)
    again = to_numpy(to_torch(network), statistics)
    for name, array in network.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
