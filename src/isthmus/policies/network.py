"""A policy that is a network, in a file that holds numbers only."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from isthmus.core import Float, History, Mlp, Problem
from isthmus.core.mlp import Activation
from isthmus.data import load_arrays, save_arrays

KIND = "policy"


def _as_it_is(observations: Float) -> Float:
    return observations


@dataclass(frozen=True)
class NetworkPolicy:
    """Acts on the latest observation; commands are not clipped, the actuator does that."""

    network: Mlp
    view: Callable[[Float], Float] = _as_it_is
    """What the network is shown of an observation (n, obs)."""

    def __call__(self, history: History) -> Float:
        """Actions (n, act)."""
        return self.network(self.view(history.current))

    def save(self, path: Path) -> None:
        """Write the network."""
        save_arrays(path, self.network.arrays(), {"kind": KIND, "activation": self.network.activation})

    @staticmethod
    def load(path: Path, inputs: int, outputs: int, view: Callable[[Float], Float] = _as_it_is) -> "NetworkPolicy":
        """Read a network that takes `inputs` numbers to `outputs`."""
        arrays, meta = load_arrays(path, KIND)
        try:
            network = Mlp.from_arrays(arrays, cast("Activation", meta["activation"]))
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise Problem(f"{path} is not a {KIND} file, or it is damaged ({error})") from error
        if (network.input_size, network.output_size) != (inputs, outputs):
            raise Problem(
                f"the policy in {path} maps {network.input_size} numbers to {network.output_size}, "
                f"but the robot shows it {inputs} and has {outputs} actuators"
            )
        return NetworkPolicy(network, view)
