"""One adapted control step of one robot."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from mujoco.batch import Batch

from isthmus.adapt.inverse_network import InverseNetwork
from isthmus.bench.measure import Benchmark, in_turns
from isthmus.core import Float32, HistoryBuffer, Mlp, WorldSpec, stream
from isthmus.experts import load_expert
from isthmus.policies import TransferPolicy
from isthmus.robots import load_task

STEPS, HISTORY = 500, 2


def control_step(repeats: int) -> Benchmark:
    """Expert, prediction and inverse model together, against bare matrix products and a bare physics step."""
    task = load_task("reacher")
    expert, spec, rng = load_expert(task), task.robot_model.spec, stream(0, "bench")
    inverse = random_inverse(spec, rng)
    policy = TransferPolicy(expert, task.source(), inverse)
    buffer = HistoryBuffer(spec, 1, HISTORY)
    buffer.begin(task.source().reset(rng))
    batch = Batch(task.robot_model.model, nsim=1, nthread=1)
    batch.ctrl = 0.1  # a moving arm, as in ours
    forward = [_bare(expert.network), _bare(inverse.network)]

    def ours() -> None:
        for _ in range(STEPS):
            policy.act(buffer.window, {})

    def bare() -> None:
        for _ in range(STEPS):
            for network in forward:
                network()
            batch.step(nstep=task.robot_model.frame_skip)

    ratio, half_iqr = in_turns(ours, bare, repeats)
    return Benchmark(
        "control-step",
        ratio,
        half_iqr,
        "bare forward passes of expert and inverse network plus a bare physics step, n = 1",
        goal=2.0,
        better="lower",
    )


def random_inverse(spec: WorldSpec, rng: np.random.Generator) -> InverseNetwork:
    """An inverse network of the usual size that knows nothing."""
    observations, actions = spec.observation_size, spec.action_size
    sizes = (HISTORY * observations + (HISTORY - 1) * actions + len(spec.targets), 256, 256, actions)
    network = Mlp(
        tuple(rng.normal(0, 0.05, shape).astype(np.float32) for shape in pairwise(sizes)),
        tuple(np.zeros(size, np.float32) for size in sizes[1:]),
        "relu",
        np.zeros(sizes[0]),
        np.ones(sizes[0]),
        np.zeros(actions),
        np.ones(actions),
    )
    return InverseNetwork(network, HISTORY, spec.targets)


def _bare(network: Mlp) -> Callable[[], Float32]:
    """Nothing but the products, biases and activations of a network."""
    inputs = np.ones((1, network.input_size), np.float32)
    *inner, (last, last_bias) = zip(network.weights, network.biases, strict=True)

    def relu(values: Float32) -> Float32:
        return np.maximum(values, 0)

    squash = np.tanh if network.activation == "tanh" else relu

    def forward() -> Float32:
        hidden = inputs
        for weight, bias in inner:
            hidden = squash(hidden @ weight + bias)
        return hidden @ last + last_bias

    return forward
