"""A policy that is a network, in a file that holds numbers only."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from isthmus.core import Float, History, Mlp, Problem, WorldSpec
from isthmus.core.mlp import Activation
from isthmus.data import load_arrays, save_arrays

KIND = "policy"


@dataclass(frozen=True)
class NetworkPolicy:
    """Acts on the latest observation; commands are not clipped, the actuator does that."""

    network: Mlp

    def __call__(self, history: History) -> Float:
        """Actions (n, act)."""
        return self.network(history.current)

    def save(self, path: Path) -> None:
        """Write the policy."""
        save_arrays(path, self.network.arrays(), {"kind": KIND, "activation": self.network.activation})

    @staticmethod
    def load(path: Path, spec: WorldSpec) -> "NetworkPolicy":
        """Read a policy that fits the world's `spec`."""
        arrays, meta = load_arrays(path, KIND)
        try:
            network = Mlp.from_arrays(arrays, cast("Activation", meta["activation"]))
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise Problem(f"{path} is not a {KIND} file, or it is damaged ({error})") from error
        sizes, expected = (network.input_size, network.output_size), (spec.observation_size, spec.action_size)
        if sizes != expected:
            raise Problem(
                f"the policy in {path} maps {sizes[0]} numbers to {sizes[1]}, "
                f"but the robot has {expected[0]} observations and {expected[1]} actuators"
            )
        return NetworkPolicy(network)
