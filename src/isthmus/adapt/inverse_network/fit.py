"""Fit an inverse network to windows of target data: the only place in adaptation that needs torch."""

import copy
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from isthmus.adapt.inverse_network.compiler_cache import make_no_compiler_cache
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.settings import FitSettings
from isthmus.core import Float, Float32, Int, Mlp


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


class Batches:
    """Inputs and labels of an inverse network, in the order `InverseNetwork` puts them together."""

    def __init__(self, windows: Windows, targets: Int, labels: Float32, statistics: Statistics) -> None:
        """Look at `windows`, whose examples have `labels` (rows, act) in the rows of their actions."""
        k, obs, act = windows.history, windows.observations.shape[1], windows.actions.shape[1]
        self._past, self._done, self._obs, self._now = k * obs, (k - 1) * act, obs, k - 1
        self._observations = torch.from_numpy(windows.observation_runs)
        self._actions = torch.from_numpy(windows.action_runs)
        self._labels = torch.from_numpy(labels)
        self._starts = torch.from_numpy(windows.starts)
        self._targets = torch.tensor(targets) if len(targets) < obs else None  # copied: a spec's targets are read-only
        self._mean, self._scale = _tensor(statistics.input_mean), _tensor(statistics.input_scale)
        self._label_mean, self._label_scale = _tensor(statistics.output_mean), _tensor(statistics.output_scale)

    def __call__(self, examples: Tensor) -> tuple[Tensor, Tensor]:
        """Standardised inputs (b, inputs) and labels (b, act) of the examples (b,)."""
        rows = self._starts[examples]
        seen = self._observations[rows]  # (b, (k+1) obs)
        past = seen[:, : self._past]
        change = seen[:, self._past :] - past[:, -self._obs :]
        if self._targets is not None:
            change = change[:, self._targets]
        inputs = torch.cat((past, self._actions[rows, : self._done], change), dim=1)
        inputs.sub_(self._mean).div_(self._scale)
        return inputs, (self._labels[rows + self._now] - self._label_mean).div_(self._label_scale)


def _tensor(values: Float) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


VALIDATION_CHUNK = 4096
Progress = Callable[[int, float], None]
"""Gets each pass over the data and its held-out loss."""


@dataclass(frozen=True)
class FitResult:
    """A fitted model and how the fit went."""

    model: InverseNetwork
    losses: tuple[tuple[float, float], ...]
    """Training and held-out loss of every pass, in units of the action's variance; the first is before any."""
    best: int
    """The pass whose weights were kept; 0 is what the fit started from."""
    error: Float
    """Root mean square error on held-out episodes, in units of the action (act,)."""
    action_std: Float
    """Standard deviation of the actions: the error of always answering their mean (act,)."""
    seconds: float


def fit(
    windows: Windows,
    targets: Int,
    settings: FitSettings,
    rng: np.random.Generator,
    *,
    correction: bool = False,
    start: InverseNetwork | None = None,
    progress: Progress | None = None,
) -> FitResult:
    """Learn which action leads where from `windows`; `start` is an earlier model to go on from.

    With `correction` the labels are differences from the source's action.
    """
    began = time.perf_counter()
    labels = windows.corrections if correction else windows.actions
    statistics = Statistics.of(windows, targets, labels)
    initial = statistics.adopt(start.network) if start else initial_network(statistics, settings.hidden, rng)
    network = to_torch(initial)
    batches = Batches(windows, targets, labels, statistics)
    training, held_out = windows.split(settings.validation)
    if not len(held_out):  # a single episode: watch the training error instead
        held_out = training
    with _one_thread():
        losses, best = _train(network, batches, training, held_out, settings, rng, progress)
        error = _error(network, batches, held_out)
    return FitResult(
        model=InverseNetwork(to_numpy(network, statistics), windows.history, targets),
        losses=tuple(losses),
        best=best,
        error=error * statistics.output_scale,
        action_std=statistics.output_scale,
        seconds=time.perf_counter() - began,
    )


def _train(
    network: nn.Module,
    batches: Batches,
    training: Int,
    held_out: Int,
    settings: FitSettings,
    rng: np.random.Generator,
    progress: Progress | None,
) -> tuple[list[tuple[float, float]], int]:
    """Gradient steps until the held-out loss stops falling; leaves the best weights in `network`."""
    make_no_compiler_cache()
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    losses = [(float("nan"), float(np.square(_error(network, batches, held_out)).mean()))]
    best, kept = 0, copy.deepcopy(network.state_dict())
    for epoch in range(1, settings.epochs + 1):
        order = torch.from_numpy(rng.permutation(training))
        total = torch.zeros(())
        for rows in _chunks(order, settings.batch):
            inputs, wanted = batches(rows)
            loss = nn.functional.mse_loss(network(inputs), wanted)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            total += loss.detach() * len(rows)
        losses.append((float(total) / len(order), float(np.square(_error(network, batches, held_out)).mean())))
        if losses[-1][1] < losses[best][1]:
            best, kept = epoch, copy.deepcopy(network.state_dict())
        if progress:
            progress(epoch, losses[-1][1])
        if epoch - best >= settings.patience:
            break
    network.load_state_dict(kept)
    return losses, best


@torch.no_grad()
def _error(network: nn.Module, batches: Batches, rows: Int) -> Float:
    """Root mean square error of each output on `rows`, standardised (act,)."""
    squares: list[Tensor] = []
    for some in _chunks(torch.from_numpy(rows), VALIDATION_CHUNK):
        inputs, wanted = batches(some)
        squares.append((network(inputs) - wanted).square_().sum(dim=0))
    return np.sqrt(torch.stack(squares).sum(dim=0).numpy().astype(np.float64) / len(rows))


def _chunks(rows: Tensor, size: int) -> Iterator[Tensor]:
    for begin in range(0, len(rows), size):
        yield rows[begin : begin + size]


@contextmanager
def _one_thread() -> Generator[None]:
    """Networks this small are fastest on one thread, and then the sums are the same on any number of cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
