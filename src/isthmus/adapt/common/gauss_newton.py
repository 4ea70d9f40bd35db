"""One step of Gauss-Newton for n small problems side by side."""

import numpy as np

from isthmus.core import Bool, Float
from isthmus.core.linear import solve

LARGEST_STEP = 1.0
"""In half ranges: contacts make the way there anything but straight."""
DAMPING = 1e-6


def gauss_newton_step(jacobian: Float, missing: Float, held: Bool | None = None) -> Float:
    """The step (n, act) that makes up for `missing` (n, k) by `jacobian` (n, k, act); what is `held` (n, act) stays."""
    normal = np.einsum("nka,nkb->nab", jacobian, jacobian)
    slope = np.einsum("nka,nk->na", jacobian, missing)
    damping = DAMPING * np.trace(normal, axis1=1, axis2=2) + 1e-12
    if held is not None:
        free = ~held
        normal, slope = normal * (free[:, :, None] & free[:, None, :]), slope * free
    normal = normal + damping[:, None, None] * np.eye(normal.shape[1])
    return np.clip(solve(normal, slope[..., None])[..., 0], -LARGEST_STEP, LARGEST_STEP)
