"""What was found of the sensors, for people to look at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SensorReport:
    """What was found of the sensors, for people to look at."""

    used: bool
    """Whether a filter stands before the target; sensors that are exact need none."""
    estimator: str = "kalman"
    """Which one that is."""
    noise: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    """Standard deviations for each sensor."""
    delay: int = 0
    sensed: tuple[str, ...] = ()
