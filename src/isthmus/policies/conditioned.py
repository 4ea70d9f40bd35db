"""One policy for many robots, pi(o, z), which is told the physics z of its robot (Yu et al. 2017).

With z given, z goes into the biases of the first layer: what is left is a network of the observation alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from isthmus.core import AnyPolicy, Float, History, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.io import load_arrays, save_arrays
from isthmus.policies.network import NetworkPolicy
from isthmus.policies.view import whole

KIND = "conditioned policy"


@dataclass(frozen=True)
class ConditionedPolicy:
    """A network that sees an observation and then the quantities `names`."""

    network: Mlp
    names: tuple[str, ...]
    low: Float
    high: Float
    """Between these each quantity was in training (q,); what is told is clipped to them."""
    see: Callable[[Float], Float] = whole
    """What the network is shown of an observation (n, obs)."""

    def __post_init__(self) -> None:
        """Refuse quantities that the network does not take."""
        shape = (len(self.names),)
        if not 0 < len(self.names) < self.network.input_size or self.low.shape != shape or self.high.shape != shape:
            raise ValueError(f"{len(self.names)} quantities do not fit a network of {self.network.input_size} inputs")
        if not (self.low <= self.high).all():
            raise ValueError("a quantity's range ends before it begins")

    def __call__(self, history: History) -> Float:
        """Actions (n, act) for robots with the simulator's own physics."""
        return self.at(np.zeros(len(self.names)))(history)

    def at(self, z: Float) -> NetworkPolicy:
        """The policy for a robot with quantities z (q,)."""
        network, seen = self.network, self.network.input_size - len(self.names)
        told = (np.clip(z, self.low, self.high) - network.input_mean[seen:]) / network.input_scale[seen:]
        told = np.clip(told, -network.input_clip, network.input_clip)
        first, bias = network.weights[0], network.biases[0]
        fixed = replace(
            network,
            weights=(np.ascontiguousarray(first[:seen]), *network.weights[1:]),
            biases=((bias + told @ first[seen:]).astype(np.float32), *network.biases[1:]),
            input_mean=network.input_mean[:seen],
            input_scale=network.input_scale[:seen],
        )
        return NetworkPolicy(fixed, self.see)

    def among(self, z: Float) -> AnyPolicy:
        """The policy for n robots, each with quantities of its own (n, q)."""
        told = np.clip(z, self.low, self.high)

        def act(history: History) -> Float:
            return self.network(np.hstack((self.see(history.current), told)))

        return act

    def save(self, path: Path) -> None:
        """Write the network, the names and the ranges."""
        arrays = self.network.arrays() | {"low": self.low, "high": self.high}
        save_arrays(path, arrays, {"kind": KIND, "activation": self.network.activation, "names": list(self.names)})


def read_conditioned(path: Path, see: Callable[[Float], Float]) -> ConditionedPolicy:
    """The policy that `save` wrote."""
    arrays, meta = load_arrays(path, KIND, follow=True)
    try:
        network = Mlp.from_arrays(arrays, cast("Activation", meta["activation"]))
        low, high = (np.asarray(arrays[name], np.float64) for name in ("low", "high"))
        return ConditionedPolicy(network, tuple(str(name) for name in meta["names"]), low, high, see)
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise Problem(f"{path} is not a {KIND} file, or it is damaged ({error})") from error
