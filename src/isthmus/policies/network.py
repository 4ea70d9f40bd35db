"""A policy that is a network, in a file that holds numbers only."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from isthmus.core import Float, History, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.io import load_arrays, save_arrays
from isthmus.policies.finite import finite
from isthmus.policies.view import whole

KIND = "policy"


@dataclass(frozen=True)
class Squash:
    """Takes a network's outputs to between two limits, as SAC, TQC and TD3 do."""

    low: Float
    high: Float
    clip: float = np.inf
    """Magnitude to which outputs are clipped before that, as SAC and TQC do with gSDE."""

    def __call__(self, outputs: Float) -> Float:
        """Actions (n, act)."""
        if self.clip < np.inf:
            outputs = np.clip(outputs, -self.clip, self.clip)
        return self.low + (np.tanh(outputs) + 1) / 2 * (self.high - self.low)


@dataclass(frozen=True)
class NetworkPolicy:
    """Acts on the latest observation; commands are not clipped, the actuator does that."""

    network: Mlp
    see: Callable[[Float], Float] = whole
    """What the network is shown of an observation (n, obs)."""
    squash: Squash | None = None

    def __call__(self, history: History) -> Float:
        """Actions (n, act)."""
        outputs = finite(self.network(self.see(history.current)), history.current)
        return outputs if self.squash is None else self.squash(outputs)

    def save(self, path: Path) -> None:
        """Write the network."""
        if self.squash is not None:
            raise ValueError("our own format is for networks whose outputs are actions")
        save_arrays(path, self.network.arrays(), {"kind": KIND, "activation": self.network.activation})


def read_network(path: Path) -> Mlp:
    """The network in a file of our own format."""
    arrays, meta = load_arrays(path, KIND, follow=True)
    try:
        return Mlp.from_arrays(arrays, cast("Activation", meta["activation"]))
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise Problem(f"{path} is not a {KIND} file, or it is damaged ({error})") from error
