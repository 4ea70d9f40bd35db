"""What commands came to, less what they were."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from isthmus.adapt.common.effective_action import Explanation
from isthmus.core import Bool, Float

HEAP = 0.03
"""Actions explained within this share of the limit may have been cut off there."""
DIMMEST = 1e-3
"""An action that shows by less than this share tells nothing."""


@dataclass(frozen=True)
class CommandErrors:
    """Errors of commands (..., act), in half ranges."""

    values: Float
    told: Bool
    """Where the error is known (..., act)."""
    side: Float
    """Where it is only known to lie beyond `values`: 1 for above, -1 for below, else 0 (..., act)."""
    shown: Float
    """The share of an error that shows in `values` (..., act)."""
    haze: Float
    """How many times more blurred than at its clearest an error is seen (..., act)."""

    @staticmethod
    def of(
        commands: Float, half_range: Float, found: Explanation, *, cut: bool, middle: Float | float = 0.0
    ) -> "CommandErrors":
        """From commands before any limit (..., act) and what explains their effect; ranges are about `middle`.

        Where errors come before the actuator's limit and are `cut` off there, an effect at the limit tells only how
        large an error was at least. Elsewhere an effect counts against the command within its limits, as far as it is
        worth the effort.
        """
        asked, done = (commands - middle) / half_range, (found.actions - middle) / half_range
        if cut:
            seen, inside = found.clear > DIMMEST, np.abs(done) < 1 - HEAP
            side = np.where(inside, 0.0, np.sign(done))
            values = np.where(inside, done, side) - asked
            return CommandErrors(
                values, inside & seen, side * seen, np.ones_like(values), 1 / np.maximum(found.clear, DIMMEST)
            )
        told = (np.abs(asked) < 1) | (np.abs(np.abs(done) - 1) > HEAP)
        return CommandErrors(found.errors, told, np.zeros_like(asked), found.clear, np.ones_like(asked))

    def less(self, expected: Float) -> "CommandErrors":
        """What is left of the errors when so much of them was expected (..., act)."""
        return replace(self, values=self.values - expected)

    def each(self, change: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]) -> "CommandErrors":
        """With every array changed in the same way."""
        return CommandErrors(*(change(getattr(self, field.name)) for field in fields(self)))

    def __getitem__(self, rows: int | slice | Bool | tuple[slice, int]) -> "CommandErrors":
        """Some of them."""
        return self.each(lambda array: array[rows])
