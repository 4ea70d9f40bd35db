"""What was identified, in numbers for people: the simulator's own beside the robot's, and what the steps determine.

Motion tells torques and what they have to overcome by their ratio only (`groups.py`). Of all ways to say the same,
the one with the fewest changed quantities is reported: motors of half the strength, rather than a robot of twice the
mass, with twice the damping, armature and stiffness.
"""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.sysid.fit import IdentifiedParameters
from isthmus.sysid.parameter_groups import RATIO, ParameterGroup
from isthmus.sysid.physics import Physics

CLEARER = 0.5
"""Another way to say it is taken when it leaves less than this share of what is off."""


@dataclass(frozen=True)
class Part:
    """One number of a quantity."""

    name: str
    simulator: float
    estimate: float
    determined: float
    """Share of the prior uncertainty that the steps have removed: 0 where they say nothing, 1 where all is known."""


@dataclass(frozen=True)
class Estimate:
    """A quantity of the simulator and of the robot."""

    name: str
    unit: str
    parts: tuple[Part, ...]
    together: Part | None
    """The sum of the parts, or the mean of ratios; None for the components of a vector."""


def estimates(physics: Physics, found: IdentifiedParameters) -> tuple[Estimate, ...]:
    """Every quantity, as it was found."""
    values = canonical_scale(physics, physics.values(found.z))
    covariances = _blocks(physics, found.covariance)
    return tuple(
        _estimate(group, value, covariance)
        for group, value, covariance in zip(physics.groups, values, covariances, strict=True)
    )


def _estimate(group: ParameterGroup, values: Float, covariance: Float) -> Estimate:
    parts = tuple(
        Part(name, float(own), float(value), _determined(row, covariance))
        for name, own, value, row in zip(group.parts, group.values, values, group.root, strict=True)
    )
    if group.vector:
        return Estimate(group.name, group.unit, parts, None)
    shares = group.values if group.step is None else group.step
    known = _determined(shares @ group.root, covariance)
    add_up = np.mean if group.unit == RATIO else np.sum
    together = Part("together", float(add_up(group.values)), float(add_up(values)), known)
    return Estimate(group.name, group.unit, parts, together)


def _determined(row: Float, covariance: Float) -> float:
    """How much less uncertain `row` (k,) of z is than before; what the prior holds fast is not determined."""
    before = float(row @ row)
    return 1 - float(row @ covariance @ row) / before if before > 1e-12 else 0.0


def _blocks(physics: Physics, covariance: Float) -> list[Float]:
    """The covariance of each quantity's part of z."""
    columns = physics.split(np.arange(physics.size, dtype=np.float64))
    return [covariance[np.ix_(one.astype(np.int64), one.astype(np.int64))] for one in columns]


def canonical_scale(physics: Physics, values: list[Float]) -> list[Float]:
    """The values with all torques scaled alike, where that leaves far less to be said; they make the same motion."""
    torques = [
        float(np.log(value.sum() / group.values.sum()))
        for group, value in zip(physics.groups, values, strict=True)
        if group.torque and group.values.sum() > 0
    ]
    deviation = {common: sum(abs(one - common) for one in torques) for common in (0.0, *torques)}
    best = min(deviation, key=lambda common: (deviation[common], abs(common)))
    if deviation[best] > CLEARER * deviation[0.0]:
        return values
    return [
        value * np.exp(-best) if quantity.torque else value
        for quantity, value in zip(physics.groups, values, strict=True)
    ]
