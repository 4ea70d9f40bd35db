"""Which physical parameters would make the simulator move as the robot did."""

from isthmus.identification.fit import Identified, identify
from isthmus.identification.physics import Physics
from isthmus.identification.transitions import Transitions

__all__ = ["Identified", "Physics", "Transitions", "identify"]
