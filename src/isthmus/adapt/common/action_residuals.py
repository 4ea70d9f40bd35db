"""What commands came to, less what they were."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from isthmus.adapt.common.effective_action import EffectiveAction
from isthmus.core import Bool, Float

LIMIT_MARGIN = 0.03
"""Actions explained within this share of the limit may have been cut off there."""
LEAST_GAIN = 1e-3
"""An action that shows by less than this share tells nothing."""


@dataclass(frozen=True)
class ActionResiduals:
    """Errors of commands (..., act), in half ranges."""

    values: Float
    observed: Bool
    """Where the error is known (..., act)."""
    censoring: Float
    """Where it is only known to lie beyond `values`: 1 for above, -1 for below, else 0 (..., act)."""
    gain: Float
    """The share of an error that shows in `values` (..., act)."""
    noise_scale: Float
    """How many times noisier than at its clearest an error is measured (..., act)."""

    @staticmethod
    def of(
        commands: Float, half_range: Float, found: EffectiveAction, *, saturates: bool, middle: Float | float = 0.0
    ) -> "ActionResiduals":
        """From commands before any limit (..., act) and what explains their effect; ranges are about `middle`.

        Where errors come before the actuator's limit and are `saturates` off there, an effect at the limit tells only
        how large an error was at least. Elsewhere an effect counts against the command within its limits, as far as it
        is worth the effort.
        """
        commanded, done = (commands - middle) / half_range, (found.actions - middle) / half_range
        if saturates:
            seen, inside = found.gain > LEAST_GAIN, np.abs(done) < 1 - LIMIT_MARGIN
            censoring = np.where(inside, 0.0, np.sign(done))
            values = np.where(inside, done, censoring) - commanded
            return ActionResiduals(
                values, inside & seen, censoring * seen, np.ones_like(values), 1 / np.maximum(found.gain, LEAST_GAIN)
            )
        observed = (np.abs(commanded) < 1) | (np.abs(np.abs(done) - 1) > LIMIT_MARGIN)
        return ActionResiduals(found.errors, observed, np.zeros_like(commanded), found.gain, np.ones_like(commanded))

    def less(self, expected: Float) -> "ActionResiduals":
        """What is left of the errors when so much of them was expected (..., act)."""
        return replace(self, values=self.values - expected)

    def each(self, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> "ActionResiduals":
        """With every array changed in the same way."""
        return ActionResiduals(*(change(getattr(self, field.name)) for field in fields(self)))

    def __getitem__(self, rows: int | slice | Bool | tuple[slice, int]) -> "ActionResiduals":
        """Some of them."""
        return self.each(lambda array: array[rows])
