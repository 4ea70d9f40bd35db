"""TorchScript in the contract of Isaac Lab's and mjlab's learned actuators.

`forward(x)` takes one row for each environment and joint, environments first: all errors, then all velocities, newest
first. It gives one torque a row. All scaling is inside, so that their scales are 1.
"""

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from isthmus.actuators.actuator import Actuator
from isthmus.core import Float
from isthmus.io.files import write_whole

SOFTSIGN, TANH, RELU = 0, 1, 2


class ScriptedActuator(torch.nn.Module):
    """A model without state as a torch module. It computes in double precision, and takes and gives single."""

    columns: torch.Tensor
    joint_bias: torch.Tensor
    kp: torch.Tensor
    kd: torch.Tensor
    limit: torch.Tensor
    coulomb: torch.Tensor
    viscous: torch.Tensor
    bias: torch.Tensor
    load: torch.Tensor

    def __init__(self, actuator: Actuator, columns: tuple[int, ...], width: int) -> None:
        """Take `columns` of the errors, and of the velocities, out of histories of `width` samples."""
        super().__init__()
        size, law, network = actuator.contract.size, actuator.pd, actuator.network
        self.joints, self.width, self.smooth = size, width, law.smooth if law else 1.0
        self.activation = ("softsign", "tanh", "relu", "elu").index(network.activation) if network else 0
        self.has_network, self.has_law = network is not None, law is not None
        self.register_buffer("columns", torch.tensor([*columns, *(width + one for one in columns)]))
        weights = network.weights if network else (np.zeros((2 * len(columns), 1), np.float32),)
        biases = network.biases if network else (np.zeros(1, np.float32),)
        told = (
            network.joint_bias if network and network.joint_bias is not None else np.zeros((size, weights[0].shape[1]))
        )
        self.register_buffer("joint_bias", _double(told))
        self.weights = torch.nn.ParameterList([_fixed(one) for one in weights])
        self.biases = torch.nn.ParameterList([_fixed(one) for one in biases])
        for name in ("kp", "kd", "limit", "coulomb", "viscous", "bias", "load"):
            values = getattr(law, name) if law else np.zeros(size)
            self.register_buffer(name, _double(np.where(np.isfinite(values), values, 1e30)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Torques (rows, 1) for rows of errors and velocities."""
        given = x.double().index_select(1, self.columns).view(-1, self.joints, self.columns.shape[0])
        torque = torch.zeros(given.shape[0], self.joints, dtype=torch.float64, device=x.device)
        if self.has_network:
            hidden = given
            first = True
            for weight, bias in zip(self.weights, self.biases):  # noqa: B905 - TorchScript knows no strict
                if not first:
                    hidden = self.active(hidden)
                hidden = torch.matmul(hidden, weight) + bias
                if first:
                    hidden = hidden + self.joint_bias
                first = False
            torque = torque + hidden[:, :, 0]
        if self.has_law:
            error, velocity = given[:, :, 0], given[:, :, given.shape[2] // 2]
            drive = torch.minimum(torch.maximum(self.kp * error - self.kd * velocity, -self.limit), self.limit)
            torque = (
                torque
                + drive
                - (self.coulomb + self.load * torch.abs(drive)) * torch.tanh(velocity / self.smooth)
                - self.viscous * velocity
                + self.bias
            )
        return torque.reshape(-1, 1).to(x.dtype)

    def active(self, x: torch.Tensor) -> torch.Tensor:
        """The activation of a hidden layer."""
        if self.activation == 0:
            return x / (1.0 + torch.abs(x))
        if self.activation == 1:
            return torch.tanh(x)
        if self.activation == 2:
            return torch.relu(x)
        return torch.nn.functional.elu(x)


def _double(values: Any) -> torch.Tensor:  # noqa: ANN401 - any array
    return torch.as_tensor(np.asarray(values, np.float64))


def _fixed(values: Any) -> torch.nn.Parameter:  # noqa: ANN401 - any array
    return torch.nn.Parameter(_double(values), requires_grad=False)


@contextmanager
def _torchscript() -> Generator[None]:
    """Torch would rather have another format, which the users of these files do not read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def write_script(actuator: Actuator, path: Path, *, contiguous: bool) -> None:
    """Write TorchScript. Its rows are the lags of the model, or with `contiguous` every sample up to the last lag."""
    lags = actuator.contract.lags
    columns, width = (lags, lags[-1] + 1) if contiguous else (tuple(range(len(lags))), len(lags))
    with _torchscript():
        scripted = cast("Any", torch.jit.script(ScriptedActuator(actuator, columns, width).eval()))
        write_whole(path, scripted.save_to_buffer())


def run_script(path: Path, rows: Float) -> Float:
    """What a TorchScript file gives for rows of inputs: float32 in and out, as its users have it."""
    with _torchscript():
        loaded = cast("Any", torch.jit.load(str(path)))
    with torch.inference_mode():
        given = loaded(torch.as_tensor(rows.astype(np.float32)))
    return np.asarray(given.numpy(), np.float64)
