"""Fit an inverse network to windows of target data: the only place in adaptation that needs torch."""

import copy
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from isthmus.adapt.inverse_network.batches import Batches
from isthmus.adapt.inverse_network.compiler_cache import make_no_compiler_cache
from isthmus.adapt.inverse_network.network import InverseNetwork
from isthmus.adapt.inverse_network.standardise import Statistics
from isthmus.adapt.inverse_network.torch_network import initial_network, to_numpy, to_torch
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.settings.fit import FitSettings
from isthmus.core import Float, Int

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
