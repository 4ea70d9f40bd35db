from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Mlp

SIZES = st.lists(st.integers(1, 8), min_size=2, max_size=5).map(tuple)
SEEDS = st.integers(0, 2**32)
ACTIVATIONS = st.sampled_from(["relu", "tanh"])
CLIPS = st.sampled_from([np.inf, 0.5, 10.0])


def by_the_book(network, inputs):
    """The definition, in float64, with nothing folded into anything."""
    hidden = (inputs - network.input_mean) / network.input_scale
    hidden = np.clip(hidden, -network.input_clip, network.input_clip)
    for layer, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        hidden = hidden @ weight.astype(np.float64) + bias.astype(np.float64)
        if layer < len(network.weights) - 1:
            hidden = np.maximum(hidden, 0) if network.activation == "relu" else np.tanh(hidden)
    return hidden * network.output_scale + network.output_mean


@given(SIZES, SEEDS, ACTIVATIONS, CLIPS, st.integers(1, 5))
def test_it_computes_what_the_definition_says(random_mlp, sizes, seed, activation, clip, n):
    rng = np.random.default_rng(seed)
    network = random_mlp(sizes, rng, activation, clip)
    inputs = rng.normal(scale=5.0, size=(n, sizes[0]))
    expected = by_the_book(network, inputs)
    outputs = network(inputs)
    assert outputs.dtype == np.float64
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-4 * (1 + np.abs(expected).max()))


@given(SIZES, SEEDS, CLIPS, st.sampled_from([np.float32, np.float64]))
def test_it_leaves_its_inputs_alone(random_mlp, sizes, seed, clip, dtype):
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(3, sizes[0])).astype(dtype)
    before = inputs.copy()
    random_mlp(sizes, rng, clip=clip)(inputs)
    np.testing.assert_array_equal(inputs, before)


@given(SIZES, SEEDS)
def test_inputs_far_away_are_clipped(random_mlp, sizes, seed):
    network = random_mlp(sizes, np.random.default_rng(seed), "tanh", 2.0)
    edge = network.input_mean + 2.0 * network.input_scale
    np.testing.assert_allclose(network((edge + 1e6)[None]), network(edge[None]), rtol=1e-5, atol=1e-5)


@given(SIZES, SEEDS, ACTIVATIONS, CLIPS)
def test_its_arrays_make_the_same_network_again(random_mlp, sizes, seed, activation, clip):
    rng = np.random.default_rng(seed)
    network = random_mlp(sizes, rng, activation, clip)
    again = Mlp.from_arrays(network.arrays(), activation)
    assert (again.input_size, again.output_size) == (sizes[0], sizes[-1])
    assert again.arrays().keys() == network.arrays().keys()
    for name, array in network.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
    inputs = rng.normal(size=(3, sizes[0]))
    np.testing.assert_array_equal(again(inputs), network(inputs))


def test_arrays_that_are_no_network_are_refused(random_mlp):
    arrays = random_mlp((3, 4, 2), np.random.default_rng(0)).arrays()
    for missing in arrays:
        with pytest.raises((KeyError, ValueError)):
            Mlp.from_arrays({name: array for name, array in arrays.items() if name != missing}, "relu")
    with pytest.raises(KeyError, match="weight_0"):
        Mlp.from_arrays({}, "relu")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"weights": (np.zeros((3, 4)), np.zeros((5, 2)))}, "layer 1 has weight"),
        ({"biases": (np.zeros(4), np.zeros(3))}, "layer 1 has weight .* and bias"),
        ({"biases": (np.zeros(4),)}, "zip"),
        ({"input_mean": np.zeros(2)}, "input_mean has shape"),
        ({"input_scale": np.ones(4)}, "input_scale has shape"),
        ({"output_mean": np.zeros(3)}, "output_mean has shape"),
        ({"output_scale": np.ones(1)}, "output_scale has shape"),
        ({"output_mean": np.array([0.0, np.nan])}, "finite"),
        ({"input_scale": np.array([1.0, np.inf, 1.0])}, "finite"),
        ({"biases": (np.zeros(4), np.array([np.nan, 0.0]))}, "finite"),
        ({"activation": "sigmoid"}, "unknown activation 'sigmoid': choose relu or tanh"),
    ],
)
def test_parts_that_do_not_fit_are_refused(random_mlp, change, complaint):
    network = random_mlp((3, 4, 2), np.random.default_rng(0))
    with pytest.raises(ValueError, match=complaint):
        replace(network, **change)


def test_a_scale_of_zero_is_refused():
    with pytest.raises(ValueError, match="must be positive"):
        Mlp((np.ones((1, 1), "f"),), (np.zeros(1, "f"),), "relu", np.zeros(1), np.zeros(1), np.zeros(1), np.ones(1))
