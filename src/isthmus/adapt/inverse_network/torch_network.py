"""The same network in torch, to be trained, and in NumPy, to be run."""

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.core import Float32, Mlp


def initial_network(statistics: Statistics, hidden: tuple[int, ...], rng: np.random.Generator) -> Mlp:
    """Random weights as torch would draw them, but from our own stream."""
    sizes = (len(statistics.input_mean), *hidden, len(statistics.output_mean))
    weights: list[Float32] = []
    biases: list[Float32] = []
    for inputs, outputs in pairwise(sizes):
        bound = 1 / np.sqrt(inputs)
        weights.append(rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32))
        biases.append(rng.uniform(-bound, bound, outputs).astype(np.float32))
    return _mlp(weights, biases, statistics)


def to_torch(network: Mlp) -> nn.Sequential:
    """A trainable copy that takes standardised inputs to standardised outputs."""
    layers: list[nn.Module] = []
    for weight, bias in zip(network.weights, network.biases, strict=True):
        linear = nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight.T.copy()))
            linear.bias.copy_(torch.from_numpy(bias))
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def to_numpy(network: nn.Sequential, statistics: Statistics) -> Mlp:
    """A trained network, ready to run."""
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    weights: list[Float32] = [np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in linear]
    biases: list[Float32] = [layer.bias.detach().numpy().copy() for layer in linear]
    return _mlp(weights, biases, statistics)


def _mlp(weights: list[Float32], biases: list[Float32], statistics: Statistics) -> Mlp:
    return Mlp(
        tuple(weights),
        tuple(biases),
        "relu",
        statistics.input_mean,
        statistics.input_scale,
        statistics.output_mean,
        statistics.output_scale,
    )
