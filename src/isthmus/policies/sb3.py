"""Policies that Stable-Baselines3 saved: PPO, A2C, TRPO, SAC, TQC and TD3, read without running any of the file."""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from isthmus.core import Float32, Mlp, Problem
from isthmus.core.mlp import Activation

WEIGHTS, SETTINGS = "policy.pth", "data"
LARGEST = 256 << 20
"""Bytes of an entry that are unpacked at most."""


@dataclass(frozen=True)
class Family:
    """How algorithms of a kind name the layers of the network that acts."""

    hidden: str
    """Prefix of the hidden layers."""
    last: str
    """Prefix of the output layer; empty where it is the last of the hidden ones."""
    activation: Activation
    """What is between the layers unless the file says otherwise."""
    squashed: bool
    """Whether a tanh limits the actions."""


FAMILIES = {
    "PPO, A2C or TRPO": Family("mlp_extractor.policy_net.", "action_net.", "tanh", squashed=False),
    "SAC or TQC": Family("actor.latent_pi.", "actor.mu.", "relu", squashed=True),
    "TD3": Family("actor.mu.", "", "relu", squashed=True),
}


def read_sb3(path: Path) -> tuple[Mlp, bool]:
    """The acting network in an SB3 zip, and whether a tanh limits its outputs."""
    try:
        with zipfile.ZipFile(path) as archive:
            weights, settings = (_entry(archive, name, path) for name in (WEIGHTS, SETTINGS))
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError) as error:
        raise Problem(f"{path} is not a Stable-Baselines3 zip, or it is damaged ({error})") from error
    arrays = _arrays(weights, path)
    family = _family(arrays, path)
    names = _layers(arrays, family)
    layers = [(arrays[f"{name}.weight"], arrays[f"{name}.bias"]) for name in names]
    try:
        return _network(layers, _activation(settings, family, path)), family.squashed
    except ValueError as error:
        raise Problem(f"the network in {path} does not fit together: {error}") from error


def _entry(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError as error:
        raise Problem(f"{path} is not a Stable-Baselines3 zip: it has no {name!r}") from error
    if info.file_size > LARGEST:
        raise Problem(f"{path} is refused: its {name!r} unpacks to {info.file_size >> 20} MB")
    return archive.read(info)


def _arrays(content: bytes, path: Path) -> dict[str, np.ndarray]:
    """The tensors of the policy; torch's own restricted reader refuses everything that is not one."""
    import torch  # noqa: PLC0415 - needed to read the file, not to act

    try:
        loaded: object = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
        raise Problem(f"{path} is refused: its {WEIGHTS!r} is not plain weights ({reason})") from error
    if not isinstance(loaded, Mapping):
        raise Problem(f"{path} is refused: its {WEIGHTS!r} is not a table of weights")
    table: dict[str, Any] = {str(name): value for name, value in loaded.items()}  # pyright: ignore
    return {name: value.detach().to(torch.float32).numpy() for name, value in table.items() if torch.is_tensor(value)}


def _family(arrays: Mapping[str, np.ndarray], path: Path) -> Family:
    if any(name.startswith("features_extractor.") or "lstm" in name for name in arrays):
        raise Problem(f"{path} has a convolutional or recurrent policy: only plain networks can be read")
    for family in FAMILIES.values():
        has_last = not family.last or f"{family.last}weight" in arrays
        if has_last and (_layers(arrays, family)[:-1] or family.last):
            return family
    raise Problem(f"{path} holds none of {', '.join(FAMILIES)}: its weights are {', '.join(sorted(arrays)[:4])}, ...")


def _layers(arrays: Mapping[str, np.ndarray], family: Family) -> list[str]:
    pattern = re.compile(re.escape(family.hidden) + r"(\d+)\.weight")
    numbers = sorted(int(match[1]) for name in arrays if (match := pattern.fullmatch(name)))
    names = [f"{family.hidden}{number}" for number in numbers]
    names += [family.last.removesuffix(".")] if family.last else []
    return [name for name in names if f"{name}.bias" in arrays]


def _activation(settings: bytes, family: Family, path: Path) -> Activation:
    """The file says in words which activation it has, if it is not the algorithm's own."""
    try:
        said: object = json.loads(settings).get("policy_kwargs", {}).get("activation_fn", "")
    except (ValueError, AttributeError, RecursionError) as error:
        raise Problem(f"{path} is not a Stable-Baselines3 zip: its {SETTINGS!r} is not a JSON object") from error
    known: dict[str, Literal["relu", "tanh"]] = {"ReLU": "relu", "Tanh": "tanh"}
    name = str(said).rstrip("'>").rpartition(".")[2]
    if said and name not in known:
        raise Problem(f"{path} has the activation {name}: only ReLU and Tanh can be read")
    return known[name] if said else family.activation


def _network(layers: list[tuple[np.ndarray, np.ndarray]], activation: Activation) -> Mlp:
    weights: list[Float32] = [np.ascontiguousarray(weight.T) for weight, _ in layers]
    inputs, outputs = int(weights[0].shape[0]), int(weights[-1].shape[1])
    return Mlp(
        tuple(weights),
        tuple(bias for _, bias in layers),
        activation,
        np.zeros(inputs),
        np.ones(inputs),
        np.zeros(outputs),
        np.ones(outputs),
    )
