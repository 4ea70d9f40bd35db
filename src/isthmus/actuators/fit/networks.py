"""Fit networks to measured torque: linear, feed-forward and recurrent, alone or on top of a PD law."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.fit.inputs import contract_for, lagged, measured
from isthmus.actuators.log import ActuatorLog
from isthmus.actuators.parts import Activation, Gru, Network, Pd
from isthmus.actuators.predict import predicted
from isthmus.core import Float, Float32, stream

Report = Callable[[str, float], None]
"""Hears the name of a model and how far its fit is, from 0 to 1."""
TORCH_ACTIVATIONS: dict[Activation, type[torch.nn.Module]] = {
    "softsign": torch.nn.Softsign,
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
}


def quiet(_name: str, _done: float) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class NetworkSettings:
    """How a network is trained."""

    hidden: tuple[int, ...] = (32, 32, 32)
    activation: Activation = "softsign"
    joint_bias: bool = False
    """Tell the joints apart."""
    epochs: int = 24
    batch: int = 2048
    rate: float = 5e-3
    rows: int = 400_000
    """Joint samples to train on at most, drawn at random from the training motion."""
    weight_decay: float = 1e-4
    seed: int = 0


def fit_linear(train: ActuatorLog, lags: tuple[int, ...], effort_limit: Float | None = None) -> Actuator:
    """Least squares on the lagged inputs and a constant, the same for all joints."""
    inputs, whole = lagged(train, lags)
    torque = measured(train)
    flat = inputs[whole].reshape(-1, inputs.shape[-1]).astype(np.float64)
    design = np.column_stack((flat, np.ones(len(flat))))
    solved = np.linalg.lstsq(design, torque[whole].ravel(), rcond=None)[0].astype(np.float32)
    network = Network((solved[:-1, None],), (solved[-1:],))
    return Actuator(contract_for(train, lags, torque, effort_limit), network=network, name="linear")


def fit_mlp(
    train: ActuatorLog,
    validation: ActuatorLog,
    lags: tuple[int, ...],
    settings: NetworkSettings | None = None,
    *,
    base: Pd | None = None,
    effort_limit: Float | None = None,
    report: Report = quiet,
    name: str = "",
) -> Actuator:
    """A network on the lagged inputs that gives the torque, or with `base` what a PD law leaves of it.

    The weights that were best on `validation` are kept: it must be other motion than `train`.
    """
    settings = settings or NetworkSettings()
    torque = measured(train)
    contract = contract_for(train, lags, torque, effort_limit)
    sets = [_rows(log, lags, base) for log in (train, validation)]
    picks = [stream(settings.seed, "actuator", part) for part in ("train", "validation")]
    limits = (settings.rows, max(settings.rows // 8, 1))
    (x, j, y), (xv, jv, yv) = (_sample(one, most, rng) for one, most, rng in zip(sets, limits, picks, strict=True))
    name = name or f"MLP {len(settings.hidden)} x {settings.hidden[0]}"
    network = _train((x, j, y), (xv, jv, yv), len(train.joints), settings, lambda done: report(name, done))
    return Actuator(contract, pd=base, network=network, name=name)


Rows = tuple[Float32, np.ndarray, Float]


def _rows(log: ActuatorLog, lags: tuple[int, ...], base: Pd | None) -> Rows:
    inputs, whole = lagged(log, lags)
    torque = measured(log)
    if base is not None:
        law = Actuator(contract_for(log, (0,), torque, np.full(len(log.joints), np.inf)), pd=base)
        torque = torque - predicted(law, log)
    joints = np.broadcast_to(np.arange(len(log.joints)), torque.shape)
    return inputs[whole].reshape(-1, inputs.shape[-1]), joints[whole].ravel(), torque[whole].ravel()


def _sample(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    count = len(rows[0])
    if count <= most:
        return rows
    chosen = rng.permutation(count)[:most]
    return rows[0][chosen], rows[1][chosen], rows[2][chosen]


def _train(
    train: Rows, validation: Rows, joints: int, settings: NetworkSettings, report: Callable[[float], None]
) -> Network:
    x, j, y = train
    mean, scale = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64) + 1e-9
    middle, spread = float(y.mean()), max(float(y.std()), 1e-9)
    torch.manual_seed(settings.seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        given, wanted = (
            _standard(x, j, joints, mean, scale, settings),
            torch.as_tensor(((y - middle) / spread).astype(np.float32))[:, None],
        )
        checked, known = (
            _standard(validation[0], validation[1], joints, mean, scale, settings),
            torch.as_tensor(((validation[2] - middle) / spread).astype(np.float32))[:, None],
        )
        net = _layers(given.shape[1], settings)
        best = _descend(net, (given, wanted), (checked, known), settings, report)
    finally:
        torch.set_num_threads(threads)
    net.load_state_dict(best)
    return _baked(net, mean, scale, middle, spread, settings)


def _standard(
    x: Float32, j: np.ndarray, joints: int, mean: Float, scale: Float, settings: NetworkSettings
) -> torch.Tensor:
    standard = ((x - mean) / scale).astype(np.float32)
    if settings.joint_bias:
        standard = np.concatenate((standard, np.eye(joints, dtype=np.float32)[j]), axis=1)
    return torch.as_tensor(standard)


def _layers(inputs: int, settings: NetworkSettings) -> torch.nn.Sequential:
    sizes = (inputs, *settings.hidden)
    layers: list[torch.nn.Module] = []
    for before, after in pairwise(sizes):
        layers += [torch.nn.Linear(before, after), TORCH_ACTIVATIONS[settings.activation]()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))


Pair = tuple[torch.Tensor, torch.Tensor]


def _descend(
    net: torch.nn.Sequential, train: Pair, validation: Pair, settings: NetworkSettings, report: Callable[[float], None]
) -> dict[str, torch.Tensor]:
    """AdamW with a one-cycle rate; returns the weights that were best on the validation rows."""
    given, wanted = train
    steps = -(-len(given) // settings.batch)
    optimiser = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.weight_decay)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.rate, total_steps=settings.epochs * steps, pct_start=0.15
    )
    best, least = {name: value.clone() for name, value in net.state_dict().items()}, np.inf
    for epoch in range(settings.epochs):
        order = torch.randperm(len(given))
        for first in range(0, len(given), settings.batch):
            rows = order[first : first + settings.batch]
            loss = torch.nn.functional.mse_loss(net(given[rows]), wanted[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
        with torch.no_grad():
            loss = float(torch.nn.functional.mse_loss(net(validation[0]), validation[1]))
        if loss < least:
            best, least = {name: value.clone() for name, value in net.state_dict().items()}, loss
        report((epoch + 1) / settings.epochs)
    return best


def _baked(
    net: torch.nn.Sequential, mean: Float, scale: Float, middle: float, spread: float, settings: NetworkSettings
) -> Network:
    """The network on raw inputs: all standardisation goes into its first and last layer."""
    linear = [one for one in net if isinstance(one, torch.nn.Linear)]
    weights = [one.weight.detach().numpy().T.astype(np.float64) for one in linear]
    biases = [one.bias.detach().numpy().astype(np.float64) for one in linear]
    own, joint = len(mean), None
    if settings.joint_bias:
        joint, weights[0] = weights[0][own:].astype(np.float32), weights[0][:own]
    weights[0] = weights[0] / scale[:, None]
    biases[0] = biases[0] - mean @ weights[0]
    weights[-1], biases[-1] = weights[-1] * spread, biases[-1] * spread + middle
    return Network(
        tuple(np.ascontiguousarray(one, np.float32) for one in weights),
        tuple(one.astype(np.float32) for one in biases),
        joint,
        settings.activation,
    )


@dataclass(frozen=True)
class GruSettings:
    """How a recurrent network is trained."""

    size: int = 16
    epochs: int = 12
    batch: int = 64
    length: int = 60
    """Samples in a training sequence; the first fifth of them only settles the state."""
    sequences: int = 1_000
    """Sequences of an epoch."""
    rate: float = 5e-3
    seed: int = 0


def fit_gru(
    train: ActuatorLog,
    validation: ActuatorLog,
    settings: GruSettings | None = None,
    *,
    effort_limit: Float | None = None,
    report: Report = quiet,
) -> Actuator:
    """A gated recurrent unit on the present error and velocity of a joint, the same for all joints."""
    settings = settings or GruSettings()
    contract = contract_for(train, (0,), measured(train), effort_limit)
    scale = np.array([max(float(one.std()), 1e-9) for one in (train.error, train.velocity)])
    spread, middle = max(float(measured(train).std()), 1e-9), float(measured(train).mean())
    torch.manual_seed(settings.seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        unit, head = torch.nn.GRU(2, settings.size, batch_first=True), torch.nn.Linear(settings.size, 1)
        _descend_sequences(unit, head, (train, validation), (scale, middle, spread), settings, report)
    finally:
        torch.set_num_threads(threads)
    named = {name: _array(value) for name, value in [*unit.named_parameters(), *head.named_parameters()]}
    gates = [named[f"{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    gru = Gru(
        np.ascontiguousarray(gates[0].T / scale[:, None], np.float32),
        np.ascontiguousarray(gates[1].T, np.float32),
        gates[2].astype(np.float32),
        gates[3].astype(np.float32),
        (named["weight"][0] * spread).astype(np.float32),
        float(named["bias"][0] * spread + middle),
    )
    return Actuator(contract, gru=gru, name="GRU")


def _array(tensor: torch.Tensor) -> Float:
    return tensor.detach().numpy().astype(np.float64)


def _descend_sequences(
    unit: torch.nn.GRU,
    head: torch.nn.Linear,
    logs: tuple[ActuatorLog, ActuatorLog],
    scales: tuple[Float, float, float],
    settings: GruSettings,
    report: Report,
) -> None:
    rng = stream(settings.seed, "actuator", "gru")
    parameters = [*unit.parameters(), *head.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=settings.rate, weight_decay=1e-4)
    steps = settings.epochs * -(-settings.sequences // settings.batch)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.rate, total_steps=steps, pct_start=0.15)
    skip = settings.length // 5
    checked, known = _sequences(logs[1], scales, settings, min(settings.sequences, 500), rng)
    least, best = np.inf, [one.detach().clone() for one in parameters]
    for epoch in range(settings.epochs):
        given, wanted = _sequences(logs[0], scales, settings, settings.sequences, rng)
        for first in range(0, len(given), settings.batch):
            rows = slice(first, first + settings.batch)
            loss = torch.nn.functional.mse_loss(head(unit(given[rows])[0])[:, skip:], wanted[rows, skip:])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
        with torch.no_grad():
            loss = float(torch.nn.functional.mse_loss(head(unit(checked)[0])[:, skip:], known[:, skip:]))
        if loss < least:
            least, best = loss, [one.detach().clone() for one in parameters]
        report("GRU", (epoch + 1) / settings.epochs)
    with torch.no_grad():
        for one, value in zip(parameters, best, strict=True):
            one.copy_(value)


def _sequences(
    log: ActuatorLog, scales: tuple[Float, float, float], settings: GruSettings, count: int, rng: np.random.Generator
) -> Pair:
    """Random windows of one joint each: inputs (count, length, 2) and torques (count, length, 1), standardised."""
    scale, middle, spread = scales
    ends = np.flatnonzero(log.age() >= settings.length - 1)
    if not ends.size:
        ends = np.array([len(log) - 1])
    rows = rng.choice(ends, count)[:, None] - np.arange(settings.length)[::-1]
    rows, joints = np.maximum(rows, 0), rng.integers(len(log.joints), size=count)[:, None]
    inputs = np.stack((log.error[rows, joints] / scale[0], log.velocity[rows, joints] / scale[1]), axis=-1)
    wanted = (measured(log)[rows, joints] - middle) / spread
    return torch.as_tensor(inputs.astype(np.float32)), torch.as_tensor(wanted.astype(np.float32))[..., None]


def with_note(actuator: Actuator, **notes: object) -> Actuator:
    """A copy of an actuator model with entries added to its provenance."""
    contract = actuator.contract
    return replace(actuator, contract=replace(contract, provenance={**contract.provenance, **notes}))
