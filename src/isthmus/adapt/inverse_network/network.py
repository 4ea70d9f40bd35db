"""The paper's inverse dynamics network, as it runs in a control step: NumPy only."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isthmus.adapt.common.method_state import MethodState
from isthmus.core import Float, History, Int, Mlp

KIND = "inverse-model"


@dataclass(frozen=True)
class InverseNetwork:
    """phi(tau, o_want): k observations, k-1 actions and the target observation in, an action out.

    The target enters as its difference from the current observation, so that standardising it to unit variance does
    not drown the small change that one control step makes in the large variation between states.
    """

    network: Mlp
    history: int
    """k: how many observations it looks at."""
    targets: Int
    """Observation dimensions it is asked to reach, counted among those it looks at."""
    sensed: Int | None = None
    """Observation dimensions it looks at; all where there is nothing else."""

    def __post_init__(self) -> None:
        """Refuse a history or targets that no network could have."""
        if self.history < 1 or self.targets.ndim != 1 or not (np.diff(self.targets, prepend=-1) > 0).all():
            raise ValueError(f"history is {self.history} and targets are {self.targets}, expected 1 or more and rising")

    def __call__(self, history: History, wanted: Float) -> Float:
        """Actions or corrections (n, act) that lead to `wanted` (n, obs)."""
        past = history.last(self.history)
        n, seen = len(wanted), past.observations
        if self.sensed is not None:
            wanted, seen = wanted[:, self.sensed], seen[:, :, self.sensed]
        change = wanted - seen[:, -1]
        if len(self.targets) < wanted.shape[1]:
            change = change[:, self.targets]
        parts = (seen.reshape(n, -1), past.actions.reshape(n, -1), change)
        return self.network(np.concatenate(parts, axis=1, dtype=np.float32))

    def state(self) -> MethodState:
        """The model as plain data."""
        arrays = self.network.arrays() | {"targets": self.targets}
        arrays |= {} if self.sensed is None else {"sensed": self.sensed}
        return MethodState(KIND, arrays, {"activation": self.network.activation, "history": self.history})

    @staticmethod
    def load(path: Path) -> "InverseNetwork":
        """The model in a file of a run."""
        return InverseNetwork.of_state(MethodState.read(path, KIND))

    @staticmethod
    def of_state(state: MethodState) -> "InverseNetwork":
        """The model that `state` gave."""
        arrays, meta = dict(state.arrays), state.about
        try:
            targets = np.asarray(arrays.pop("targets"), dtype=np.int64)
            seen = arrays.pop("sensed", None)
            sensed = None if seen is None else np.asarray(seen, dtype=np.int64)
            return InverseNetwork(Mlp.from_arrays(arrays, meta["activation"]), int(meta["history"]), targets, sensed)
        except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
            raise state.damaged(error) from error
