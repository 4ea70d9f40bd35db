"""Networks as plain arrays: what a checkpoint holds, without anything that could run when it is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isthmus.core import Problem
from isthmus.io import load_arrays, read_regular, save_arrays
from isthmus.io.bounded import Unreadable
from isthmus.vision.localiser.initialisers import read_initialisers

KIND = "localiser checkpoint"
COUNTER = "num_batches_tracked"
"""Of a batch normalisation: it is not exported, as nothing depends on it."""


class Average:
    """A running average of a network's weights, which is better than the last ones."""

    def __init__(self, network: nn.Module) -> None:
        """Begin at the network's weights."""
        self.values = {name: one.detach().clone() for name, one in network.state_dict().items()}

    def update(self, network: nn.Module, step: int) -> None:
        """Take in the weights after `step` steps."""
        keep = min(0.998, (1 + step) / (10 + step))
        for name, one in network.state_dict().items():
            if one.dtype.is_floating_point:
                self.values[name].lerp_(one, 1 - keep)
            else:
                self.values[name].copy_(one)


def save_checkpoint(
    path: Path, networks: Mapping[str, nn.Module], averages: Mapping[str, Average], optimiser: torch.optim.Optimizer,
    meta: Mapping[str, Any],
) -> None:  # fmt: skip
    """Write all that training goes on from."""
    arrays: dict[str, np.ndarray] = {}
    for name, network in networks.items():
        arrays |= {f"network/{name}/{key}": one.numpy() for key, one in network.state_dict().items()}
        arrays |= {f"average/{name}/{key}": one.numpy() for key, one in averages[name].values.items()}
    for number, state in optimiser.state_dict()["state"].items():
        arrays |= {f"optimiser/{number}/{key}": np.asarray(one) for key, one in state.items()}
    save_arrays(path, arrays, {"kind": KIND, **meta})


def load_checkpoint(
    path: Path, networks: Mapping[str, nn.Module], averages: Mapping[str, Average], optimiser: torch.optim.Optimizer
) -> dict[str, Any]:
    """Take over what `save_checkpoint` wrote; returns its description."""
    arrays, meta = load_arrays(path, KIND)
    for name, network in networks.items():
        load_state(network, _part(arrays, f"network/{name}/"), path)
        averaged = _part(arrays, f"average/{name}/")
        check_state(averages[name].values, averaged, path)
        averages[name].values = {key: torch.from_numpy(one.copy()) for key, one in averaged.items()}
    described = optimiser.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, one in _part(arrays, "optimiser/").items():
        number, _, field = key.partition("/")
        state.setdefault(int(number), {})[field] = torch.from_numpy(one.copy())
    described["state"] = state
    optimiser.load_state_dict(described)
    return meta


def load_exported(folder: Path, networks: Mapping[str, nn.Module]) -> None:
    """Put the weights of a localiser's ONNX files into the networks: coarse.onnx into `coarse`, and so on."""
    for name, network in networks.items():
        path = folder / f"{name}.onnx"
        try:
            arrays: dict[str, np.ndarray] = dict(read_initialisers(read_regular(path)))
        except FileNotFoundError as error:
            raise Problem(f"{path} is missing: the folder of a localiser has it") from error
        except Unreadable as error:
            raise Problem(f"{path} is not a network of a localiser ({error})") from error
        counters = {key: one.numpy() for key, one in network.state_dict().items() if key.endswith(COUNTER)}
        load_state(network, arrays | counters, path)


def load_average(path: Path, networks: Mapping[str, nn.Module]) -> dict[str, Any]:
    """Put the averaged weights of a checkpoint into the networks."""
    arrays, meta = load_arrays(path, KIND)
    for name, network in networks.items():
        load_state(network, _part(arrays, f"average/{name}/"), path)
    return meta


def load_state(network: nn.Module, arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Put arrays into a network of the same shape."""
    check_state(network.state_dict(), arrays, path)
    network.load_state_dict({key: torch.from_numpy(one.copy()) for key, one in arrays.items()})


def check_state(wanted: Mapping[str, Tensor], arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Refuse arrays that are not those of a network."""
    same = wanted.keys() == arrays.keys() and all(tuple(wanted[key].shape) == arrays[key].shape for key in wanted)
    if not same:
        raise Problem(f"{path} has the weights of another network: it was made by another version or another setting")


def _part(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): one for name, one in arrays.items() if name.startswith(prefix)}
