"""What the response model is made of; each part can be left out, to see what it is worth."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parts:
    """Those that are there."""

    metric: bool = True
    """Errors count by what they cost to correct later; else all alike."""
    price: bool = True
    """Errors are explained, and made up for, only as far as that is worth the effort."""
    lines: bool = True
    """Errors that depend on the state and the commands are learned."""
    following: bool = True
    """Disturbances that last are followed while the robot runs."""
    doubt: bool = True
    """Lines are held back as far as other episodes do not confirm them; else they are fitted closely."""
