"""What a robot is asked for, as plain data: a goal, or to give up one."""

from dataclasses import dataclass

from isthmus.core import Float


@dataclass(frozen=True)
class Goal:
    """Points to go to: seconds from now, and one value for each of `names`, in that order."""

    identity: str
    names: tuple[str, ...]
    points: tuple[tuple[float, Float], ...]
    stamp: float
    """When it was sent."""


@dataclass(frozen=True)
class Cancel:
    """Gives up the goal of that identity, and all that were sent by then; with neither said, all there are."""

    identity: str = ""
    stamp: float = 0.0

    @property
    def everything(self) -> bool:
        """Whether the arm is to hold, whatever it is after."""
        return not self.identity and not self.stamp

    def concerns(self, identity: str, stamp: float) -> bool:
        """Whether it gives up that goal."""
        return self.everything or identity == self.identity or (self.stamp > 0 and stamp <= self.stamp)
