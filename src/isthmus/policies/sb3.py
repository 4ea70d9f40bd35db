"""Policies that Stable-Baselines3 and its contrib package saved, read without running any of the file.

Read are those that map an observation to a continuous action: PPO, A2C, TRPO, SAC, TQC, TD3, DDPG and ARS, with gSDE or
without. Their exploration is left out. Others are refused by name.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.io import open_regular
from isthmus.io.bounded import Unreadable, unpack
from isthmus.policies.weights import read_weights

WEIGHTS, SETTINGS = "policy.pth", "data"
LARGEST = 64 << 20
"""Bytes that are unpacked at most."""
LONGEST_SETTINGS = 8 << 20
CLIP_MEAN = 2.0
"""To what SAC and TQC clip the mean of their actions with gSDE, before the tanh, by default."""
EXPLORATION = "log_std"
"""What PPO, A2C and TRPO have with continuous actions only."""
REFUSED = {
    "quantile_net.": "of QR-DQN, whose actions are discrete",
    "q_net.": "of DQN, whose actions are discrete",
    "lstm": "of RecurrentPPO, which has a memory",
    "ra_mean": "of CrossQ, which has layers that renormalise",
    "features_extractor.": "with a convolutional or other feature extractor",
}
"""Policies that are not read, by what occurs in the names of their weights."""


@dataclass(frozen=True)
class Family:
    """How algorithms of a kind name the layers of the network that acts."""

    inner: tuple[str, ...]
    """Prefixes of layers with numbers, in the order in which they act."""
    last: str
    """The output layer; empty where it is the last of those with numbers."""
    activation: Activation
    """What is between the layers unless the file says otherwise."""
    squashed: bool
    """Whether a tanh limits the actions, unless the file says otherwise."""
    marks: tuple[str, ...]
    """Weights that distinguish it from those after it."""


FAMILIES = {
    "SAC or TQC": Family(("actor.latent_pi.",), "actor.mu", "relu", squashed=True, marks=("actor.mu.weight",)),
    "SAC or TQC with gSDE": Family(
        ("actor.latent_pi.", "actor.mu."), "", "relu", squashed=True, marks=("actor.mu.0.weight", "actor.log_std")
    ),
    "TD3 or DDPG": Family(("actor.mu.",), "", "relu", squashed=True, marks=("actor.mu.0.weight",)),
    "PPO, A2C or TRPO": Family(
        ("mlp_extractor.shared_net.", "mlp_extractor.policy_net."),
        "action_net",
        "tanh",
        squashed=False,
        marks=("action_net.weight",),
    ),
    "ARS": Family(("action_net.",), "", "relu", squashed=True, marks=("action_net.0.weight",)),
}
"""In the order in which they are recognised."""


@dataclass(frozen=True)
class Sb3Network:
    """The network that acts, and what is done with its outputs."""

    network: Mlp
    squashed: bool
    """Whether a tanh limits the actions."""
    clip: float
    """Magnitude to which outputs are clipped before that."""
    timed: bool
    """Whether the last number that it sees is from 0 to 1, as RL Zoo's time feature is and no other."""


def read_sb3(path: Path) -> Sb3Network:
    """The acting network in an SB3 zip."""
    try:
        with open_regular(path, follow=True) as file:
            entries = unpack(file, (WEIGHTS, SETTINGS), largest=LARGEST)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror or error}") from error
    except (Unreadable, MemoryError) as error:
        raise Problem(f"{path} is not a Stable-Baselines3 zip, or it is damaged ({error})") from error
    for name in (WEIGHTS, SETTINGS):
        if name not in entries:
            raise Problem(f"{path} is not a Stable-Baselines3 zip: it has no {name!r}")
    settings = _settings(entries[SETTINGS], path)
    try:
        arrays = read_weights(entries[WEIGHTS], largest=LARGEST)
    except (Unreadable, MemoryError) as error:
        raise Problem(f"{path} is refused: its {WEIGHTS!r} is not plain weights: {error}") from error
    name = _family(arrays, path)
    try:
        return _network(arrays, name, settings)
    except ValueError as error:
        raise Problem(f"the network in {path} does not fit together: {error}") from error


def _settings(content: bytearray, path: Path) -> dict[str, Any]:
    """What the policy was made with, in words: pickles beside them stay closed."""
    try:
        data: Any = json.loads(bytes(content)) if len(content) <= LONGEST_SETTINGS else None
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not a Stable-Baselines3 zip: its {SETTINGS!r} is not a JSON object") from error
    if not isinstance(data, dict):
        raise Problem(f"{path} is not a Stable-Baselines3 zip: its {SETTINGS!r} is not a JSON object")
    return data  # pyright: ignore[reportUnknownVariableType]


def _part(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: object = settings.get(name)
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _timed(settings: Mapping[str, Any]) -> bool:
    """The limits of what is seen are printed arrays: [-inf -inf 0.] and [inf inf 1.] with a time feature."""
    space = _part(settings, "observation_space")
    low, high = (str(space.get(name, ""))[-200:].rstrip("] \n").split() for name in ("low", "high"))
    return low[-1:] in (["0."], ["0.0"]) and high[-1:] in (["1."], ["1.0"]) and low[-2:-1] not in (["0."], ["0.0"])


def _family(arrays: Mapping[str, np.ndarray], path: Path) -> str:
    for part, what in REFUSED.items():
        if any(part in name for name in arrays):
            raise Problem(f"{path} is a policy {what}: only plain networks with continuous actions can be read")
    for name, family in FAMILIES.items():
        if all(mark in arrays for mark in family.marks):
            if name == "PPO, A2C or TRPO" and EXPLORATION not in arrays:
                raise Problem(f"{path} is a policy of {name} with discrete actions: only continuous ones can be read")
            return name
    known = ", ".join(name for name in FAMILIES if "gSDE" not in name)
    raise Problem(f"{path} holds none of {known}: its weights are {', '.join(sorted(arrays)[:4])[:200]}, ...")


def _layers(arrays: Mapping[str, np.ndarray], family: Family) -> list[str]:
    names: list[str] = []
    for prefix in family.inner:
        pattern = re.compile(re.escape(prefix) + r"(\d{1,3})\.weight")
        numbers = sorted(int(match[1]) for name in arrays if (match := pattern.fullmatch(name)))
        names += [f"{prefix}{number}" for number in numbers]
    return [*names, family.last] if family.last else names


def _network(arrays: Mapping[str, np.ndarray], name: str, data: Mapping[str, Any]) -> Sb3Network:
    family, settings = FAMILIES[name], _part(data, "policy_kwargs")
    layers = [_layer(arrays, layer) for layer in _layers(arrays, family)]
    if not layers:
        raise ValueError("it has no layers")
    linear = name == "ARS" and len(layers) == 1 and f"{family.inner[0]}0.bias" not in arrays
    squashed = settings.get("squash_output", family.squashed and not linear)
    clip = _number(settings, "clip_mean", CLIP_MEAN) if name == "SAC or TQC with gSDE" else np.inf
    if not isinstance(squashed, bool) or not clip > 0:
        raise ValueError("its settings squash_output and clip_mean are not a truth value and a positive number")
    return Sb3Network(_mlp(layers, _activation(settings, family)), squashed, clip, _timed(data))


def _layer(arrays: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Weight (outputs, inputs) and bias (outputs,) of a layer; some have no bias."""
    weight = arrays[f"{name}.weight"]
    if weight.ndim != 2 or not weight.size or weight.dtype.kind != "f":
        raise ValueError(f"the weight of {name} is not a matrix but has shape {weight.shape} of {weight.dtype}")
    bias = arrays.get(f"{name}.bias", np.zeros(len(weight), np.float32))
    return weight.astype(np.float32), bias.astype(np.float32)


def _number(settings: Mapping[str, Any], name: str, default: float) -> float:
    found: object = settings.get(name, default)
    return float(found) if isinstance(found, int | float) and abs(found) < 1e6 else np.nan


def _activation(settings: Mapping[str, Any], family: Family) -> Activation:
    """The file says in words which activation it has, if it is not the algorithm's own."""
    said = settings.get("activation_fn", "")
    known: dict[str, Activation] = {"ReLU": "relu", "Tanh": "tanh"}
    name = str(said)[:200].rstrip("'>").rpartition(".")[2]
    if said and name not in known:
        raise ValueError(f"it has the activation {name}: only ReLU and Tanh can be read")
    return known[name] if said else family.activation


def _mlp(layers: Sequence[tuple[np.ndarray, np.ndarray]], activation: Activation) -> Mlp:
    weights = tuple(np.ascontiguousarray(weight.T) for weight, _ in layers)
    inputs, outputs = int(weights[0].shape[0]), int(weights[-1].shape[1])
    return Mlp(
        weights,
        tuple(bias for _, bias in layers),
        activation,
        np.zeros(inputs),
        np.ones(inputs),
        np.zeros(outputs),
        np.ones(outputs),
    )


ORIGINAL = "_last_original_obs"
"""Set while training under VecNormalize only: the observation before it was normalised."""


def trained_normalised(path: Path) -> bool:
    """Whether the zip records that it was trained under VecNormalize; False for any other file.

    The record is JSON. The pickled values in it are not read.
    """
    try:
        with open_regular(path, follow=True) as file:
            settings: object = json.loads(unpack(file, {SETTINGS}, largest=LARGEST)[SETTINGS])
    except (OSError, Problem, KeyError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(settings, dict) and settings.get(ORIGINAL) is not None  # pyright: ignore[reportUnknownMemberType]
