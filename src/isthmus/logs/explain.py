"""How much of a command a torque explains, with friction and rotor inertia of any size."""

import numpy as np

from isthmus.core import Float

FEATURES = 5
"""Torque, acceleration, velocity, its direction, and 1."""
BIAS = 0.3
"""Weight of a constant part of a command against what is left of it: drives have little of it."""
PASSIVE = 3.0
"""Times its gravity that a passive joint's torque counts at most: readings that are this wrong are equally wrong."""


def unexplained(features: Float, commands: Float, *, one_sided: bool) -> tuple[Float, Float, Float]:
    """Mean square of commands (..., N, R) that features (..., N, 5) leave unexplained (..., R).

    Returns that, the gains of the torque, and what friction alone leaves. A torque and an acceleration act in the same
    direction, and in the direction of the command if `one_sided`. What would act otherwise is left out. A constant part
    counts as unexplained by the share `BIAS` of its square: otherwise it would pass for the weight of a joint, whose
    mean says much about the joint's zero.
    """
    rows = features.shape[-2]
    size = np.sqrt(np.mean(np.square(features), axis=-2)) + 1e-9  # (..., 5)
    scaled = features / size[..., None, :]
    turned = np.swapaxes(scaled, -1, -2)
    gram = turned @ scaled / rows + np.diag([1e-9, 1e-9, 1e-9, 1e-9, BIAS])
    product = turned @ commands / rows  # (..., 5, R)
    power = np.mean(np.square(commands), axis=-2)

    def solved(which: list[int]) -> tuple[Float, Float]:
        part = product[..., which, :]
        found = np.asarray(np.linalg.solve(gram[..., which, :][..., which], part), np.float64)
        return power - np.sum(found * part, axis=-2), found

    left, _ = solved([2, 3, 4])
    gains, before = np.zeros_like(left), np.maximum(left, 0)
    for which in ([0, 2, 3, 4], [0, 1, 2, 3, 4]):
        less, found = solved(which)
        torque = found[..., 0, :]
        sound = torque > 0 if one_sided else torque != 0
        if len(which) == FEATURES:
            sound = sound & (torque * found[..., 1, :] >= 0)
        better = sound & (less < left)
        left = np.where(better, less, left)
        gains = np.where(better, torque / size[..., :1], gains)
    return np.maximum(left, 0), gains, before


def unmoved(features: Float, gravity: Float) -> float:
    """Torque of a passive joint that friction does not explain, as a share of its gravity (N,): it should be none."""
    torque, friction = features[:, 0], features[:, 2:4]
    found = np.linalg.lstsq(friction, torque, rcond=None)[0]
    whole = np.mean(np.square(gravity)) + 1e-12
    return float(np.minimum(np.mean(np.square(torque - friction @ found)) / whole, PASSIVE))
