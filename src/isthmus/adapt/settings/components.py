"""What our method is made of; each part can be left out, to see what it is worth."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Components:
    """Those that are there."""

    metric: bool = True
    """Errors count by what they cost to correct later; else all alike."""
    effort_penalty: bool = True
    """Errors are explained, and made up for, only as far as that is worth the effort."""
    regression: bool = True
    """Errors that depend on the state and the commands are learned."""
    observer: bool = True
    """Disturbances that last are followed while the robot runs."""
    cross_validation: bool = True
    """Lines are held back as far as other episodes do not confirm them; else they are fitted closely."""
    correction: bool = True
    """`auto` rehearses in a simulator that the samples have put right; else in the source's, where
    commands come to what lines and disturbances make of them."""
    fall_back: bool = True
    """`auto` leaves the policy as it is unless another surely does better; else the best of the others is taken."""
