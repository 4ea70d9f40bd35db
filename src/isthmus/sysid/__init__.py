"""Which physical parameters would make the simulator move as the robot did."""

from isthmus.sysid.estimate import Estimate, Part, canonical_scale, estimates
from isthmus.sysid.fit import IdentifiedParameters, identify
from isthmus.sysid.physics import Physics
from isthmus.sysid.transitions import Transitions, holdout_split

__all__ = [
    "Estimate",
    "IdentifiedParameters",
    "Part",
    "Physics",
    "Transitions",
    "canonical_scale",
    "estimates",
    "holdout_split",
    "identify",
]
