"""Learn a policy from recorded observations and the actions that were found for them: the fit needs torch."""

from itertools import pairwise

import numpy as np
import torch
from torch import nn

from isthmus.core import Float, Float32, Mlp
from isthmus.core.scale import SMALLEST_SCALE

HIDDEN = (128, 128)
EPOCHS, BATCH = 60, 128
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-4


def fit_clone(observations: Float, actions: Float, rng: np.random.Generator) -> Mlp:
    """A network that gives `actions` (m, act) at `observations` (m, obs)."""
    mean, scale = _standard(observations)
    output_mean, output_scale = _standard(actions)
    sizes = (observations.shape[1], *HIDDEN, actions.shape[1])
    layers = [_linear(inputs, outputs, rng) for inputs, outputs in pairwise(sizes)]
    network = nn.Sequential(*(part for layer in layers for part in (layer, nn.Tanh())))[:-1]
    inputs = torch.from_numpy(((observations - mean) / scale).astype(np.float32))
    wanted = torch.from_numpy(((actions - output_mean) / output_scale).astype(np.float32))
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # the same sums on any number of cores
    try:
        _train(network, inputs, wanted, rng)
    finally:
        torch.set_num_threads(before)
    weights: list[Float32] = [np.ascontiguousarray(layer.weight.detach().numpy().T) for layer in layers]
    biases: list[Float32] = [layer.bias.detach().numpy().copy() for layer in layers]
    return Mlp(tuple(weights), tuple(biases), "tanh", mean, scale, output_mean, output_scale)


def _train(network: nn.Module, inputs: torch.Tensor, wanted: torch.Tensor, rng: np.random.Generator) -> None:
    optimiser = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    for _ in range(EPOCHS):
        order = rng.permutation(len(inputs))
        for first in range(0, len(order), BATCH):
            rows = torch.from_numpy(order[first : first + BATCH])
            loss = nn.functional.mse_loss(network(inputs[rows]), wanted[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()


def _linear(inputs: int, outputs: int, rng: np.random.Generator) -> nn.Linear:
    """A layer whose weights are drawn as torch would, but from our own stream."""
    layer, bound = nn.Linear(inputs, outputs), 1 / np.sqrt(inputs)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(rng.uniform(-bound, bound, (outputs, inputs)).astype(np.float32)))
        layer.bias.copy_(torch.from_numpy(rng.uniform(-bound, bound, outputs).astype(np.float32)))
    return layer


def _standard(values: Float) -> tuple[Float, Float]:
    mean, std = values.mean(axis=0), values.std(axis=0)
    return mean, np.where(std > SMALLEST_SCALE * (1 + np.abs(mean)), std, 1.0)
