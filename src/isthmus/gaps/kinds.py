"""Every kind of gap there is, in the order in which they act."""

from isthmus.gaps.actuation import ACTUATION
from isthmus.gaps.build import BUILD
from isthmus.gaps.drives import DRIVES
from isthmus.gaps.placement import PLACEMENT
from isthmus.gaps.sensing import SENSING
from isthmus.gaps.surroundings import SURROUNDINGS

KINDS = {kind.name: kind for kind in (*SURROUNDINGS, *BUILD, *PLACEMENT, *DRIVES, *ACTUATION, *SENSING)}
