"""Which physical parameters would make the simulator move as the robot did."""

from isthmus.identification.estimate import Estimate, Part, estimates, in_fewest_terms
from isthmus.identification.fit import Identified, identify
from isthmus.identification.physics import Physics
from isthmus.identification.transitions import Transitions, set_apart

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
