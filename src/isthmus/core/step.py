"""What a world answers to a command. There is no reward in it, on purpose."""

from dataclasses import dataclass

from isthmus.core.arrays import Bool, Float


@dataclass(frozen=True, slots=True)
class Step:
    """One control step of n worlds."""

    observations: Float
    """What is seen after the step (n, obs)."""
    applied: Float
    """What the actuators accepted of the commands (n, act)."""
    ended: Bool
    """Which worlds are over and must be reset (n,)."""

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        n = self.observations.shape[0]
        if self.observations.ndim != 2 or self.applied.ndim != 2 or self.applied.shape[0] != n:
            raise ValueError(
                f"observations {self.observations.shape} and applied {self.applied.shape} must be (n, ...)"
            )
        if self.ended.shape != (n,):
            raise ValueError(f"ended has shape {self.ended.shape}, expected ({n},)")
