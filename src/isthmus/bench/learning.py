"""Fitting an inverse model: time against a bare torch loop, memory against the data."""

import multiprocessing
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn

from isthmus.adapt.inverse_network.compiler_cache import make_no_compiler_cache
from isthmus.adapt.inverse_network.fit import fit
from isthmus.adapt.inverse_network.windows import Windows
from isthmus.adapt.settings import FitSettings
from isthmus.bench.measure import Benchmark, in_turns, middle
from isthmus.core import Episode, Trajectory, WorldSpec, stream

EPISODES, LENGTH, EPOCHS = 40, 50, 10
MEMORY_EPISODES, MEMORY_LENGTH, MEMORY_OBSERVATIONS, MEMORY_ACTIONS = 200, 1000, 64, 8
KILOBYTE = 1024


def fit_speed(repeats: int) -> Benchmark:
    """A fit of fixed length against the same number of gradient steps on ready-made tensors."""
    spec = _spec(11, 2)
    windows = Windows.of(_episodes(EPISODES, LENGTH, spec), 2, spec)
    settings = FitSettings(epochs=EPOCHS, patience=EPOCHS)
    training, _ = windows.split(settings.validation)
    inputs = torch.randn(len(training), 3 * spec.observation_size + spec.action_size)
    labels = torch.randn(len(training), spec.action_size)
    threads = torch.get_num_threads()

    def bare() -> None:
        network = _network(inputs.shape[1], settings.hidden, spec.action_size)
        make_no_compiler_cache()
        optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, fused=True)
        for _ in range(EPOCHS):
            order = torch.randperm(len(training))
            for begin in range(0, len(training), settings.batch):
                rows = order[begin : begin + settings.batch]
                loss = nn.functional.mse_loss(network(inputs[rows]), labels[rows])
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                optimiser.step()

    torch.set_num_threads(1)
    ratio, half_iqr = in_turns(lambda: fit(windows, spec.targets, settings, stream(0, "bench")), bare, repeats)
    torch.set_num_threads(threads)
    return Benchmark(
        "fit",
        1 / ratio,
        half_iqr / ratio**2,
        "a bare torch loop over the same batches, one thread",
        goal=0.7,
        better="higher",
    )


def fit_memory(repeats: int) -> Benchmark:
    """Peak memory of loading and fitting, in sizes of the data, measured in processes of their own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        shares = pool.map(_peak_share, range(min(repeats, 3)), chunksize=1)
    ratio, half_iqr = middle(shares)
    return Benchmark(
        "fit-memory", ratio, half_iqr, "the trajectories that are fitted, history of 4", goal=2.0, better="lower"
    )


def _peak_share(repeat: int) -> float:
    spec = _spec(MEMORY_OBSERVATIONS, MEMORY_ACTIONS)
    settings = FitSettings(hidden=(32,), epochs=1, batch=4096)
    fit(Windows.of(_episodes(2, 100, spec), 4, spec), spec.targets, settings, stream(repeat, "warm"))  # loads torch
    # By the peak so far, not by what is resident now: a kernel that reclaims idle pages would count as memory used.
    before = _peak_bytes()
    episodes = _episodes(MEMORY_EPISODES, MEMORY_LENGTH, spec)
    size = sum(
        array.nbytes
        for episode in episodes
        for one in episode
        for array in (one.observations, one.commands, one.applied, one.source, one.wanted)
    )
    fit(Windows.of(episodes, 4, spec), spec.targets, settings, stream(repeat, "bench"))
    return (_peak_bytes() - before) / size


def _peak_bytes() -> int:
    """The most memory that this process has had; getrusage() would tell its parent's if that had more."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * KILOBYTE for line in status.splitlines() if line.startswith("VmHWM:"))


def _spec(observations: int, actions: int) -> WorldSpec:
    return WorldSpec(
        observation_names=tuple(f"o{i}" for i in range(observations)),
        action_names=tuple(f"a{i}" for i in range(actions)),
        action_low=-np.ones(actions),
        action_high=np.ones(actions),
        control_period=0.02,
        horizon=MEMORY_LENGTH,
        targets=np.arange(observations),
    )


def _episodes(count: int, length: int, spec: WorldSpec) -> Sequence[Episode]:
    rng = stream(0, "bench", "data")

    def one() -> Trajectory:
        observations = rng.standard_normal((length + 1, spec.observation_size))
        actions = rng.uniform(-1, 1, (length, spec.action_size))
        return Trajectory(observations, actions, actions, actions, observations[1:])

    return [[one()] for _ in range(count)]


def _network(inputs: int, hidden: Sequence[int], outputs: int) -> nn.Sequential:
    sizes = (inputs, *hidden, outputs)
    layers = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*layers[:-1])
