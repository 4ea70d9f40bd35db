"""Output error control: the simulator's latest errors, smoothed, are taken to go on.

e_t = (1 - g) e_{t-1} + g (o_t - T_src(o_{t-1}, a_{t-1}))        x' = F [x; u] + f + e_t
"""

from dataclasses import replace

import numpy as np

from isthmus.adapt.mpc.affine import Affine, Transition
from isthmus.core import Float

FORGET = 0.5


class OutputError:
    """The errors e of n worlds; the first one of an episode is taken as it is."""

    def __init__(self, forget: float = FORGET) -> None:
        """Start with no errors; `forget` is g."""
        self._forget = forget
        self._error: Float = np.empty((0, 0))

    def __call__(self, prior: Affine, last: Transition) -> Affine:
        """The simulator's dynamics, with the errors put right."""
        raw, g = last.after - last.expected, self._forget
        before = raw if self._error.shape != raw.shape else self._error
        smooth = np.where(last.first[:, None], raw, (1 - g) * before + g * raw)
        self._error = np.where(last.there[:, None], smooth, 0.0)
        return replace(prior, c=prior.c + self._error)
