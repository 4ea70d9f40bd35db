"""Output error control: the simulator's latest errors, smoothed, are taken to go on.

e_t = (1 - g) e_{t-1} + g (o_t - T_src(o_{t-1}, a_{t-1}))        x' = F [x; u] + f + e_t
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.adapt.mpc.affine import Affine, Transition, Units
from isthmus.core import PolicyState

FORGET = 0.5


@dataclass(frozen=True)
class OutputError:
    """Adds the smoothed error e; the first one of an episode is taken as it is."""

    forget: float = FORGET  # g

    def initial_state(self, n: int, units: Units) -> PolicyState:
        """No errors."""
        return {"error": np.zeros((n, len(units.targets)))}

    def __call__(self, prior: Affine, last: Transition, state: PolicyState) -> tuple[Affine, PolicyState]:
        """The simulator's dynamics with the error added, and the error (n, d)."""
        raw, g = last.after - last.expected, self.forget
        smooth = np.where(last.first[:, None], raw, (1 - g) * state["error"] + g * raw)
        error = np.where(last.there[:, None], smooth, 0.0)
        return replace(prior, c=prior.c + error), {"error": error}
