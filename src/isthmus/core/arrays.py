"""Array types. Everything is batched: observations (n, obs), actions (n, act); a robot is n = 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Rows = slice | Bool
"""Which of n worlds: all of them, as a slice, or a mask (n,)."""


def frozen(array: NDArray[Any], *, what: str, shape: tuple[int | None, ...]) -> Float:
    """A read-only float64 copy of `array`, refused unless finite and of `shape` (None matches any size)."""
    copied = np.array(array, dtype=np.float64)
    if copied.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, copied.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{what} has shape {copied.shape}, expected ({wanted})")
    if not np.isfinite(copied).all():
        row = int(np.argwhere(~np.isfinite(copied))[0, 0])
        raise ValueError(f"{what} is not finite at row {row}")
    copied.flags.writeable = False
    return copied
