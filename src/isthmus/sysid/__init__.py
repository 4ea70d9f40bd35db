"""Which physical parameters would make the simulator move as the robot did."""

from isthmus.sysid.estimate import Estimate, Part, estimates, in_fewest_terms
from isthmus.sysid.fit import Identified, identify
from isthmus.sysid.physics import Physics
from isthmus.sysid.transitions import Transitions, set_apart

__all__ = [
    "Estimate",
    "Identified",
    "Part",
    "Physics",
    "Transitions",
    "estimates",
    "identify",
    "in_fewest_terms",
    "set_apart",
]
