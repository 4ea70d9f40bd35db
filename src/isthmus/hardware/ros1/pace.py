"""How well a control loop keeps its time."""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Pace:
    """How well the control loop keeps its time."""

    steps: int = 0
    lateness: list[float] = field(default_factory=list[float])
    """Seconds from each deadline to the command."""
    rate: float = 0.0
    """Control steps a second, by the last of them."""
    seconds: float = 0.0
    """Of robot time, moves to the start included."""
    lost: int = 0
    """Episodes that were cut short because the robot was silent, or we were late."""

    def within(self, bound: float) -> float:
        """Share of the commands that were no later than `bound` seconds."""
        return float(np.mean(np.array(self.lateness) <= bound)) if self.lateness else 1.0

    def to_json(self) -> dict[str, float]:
        """As plain data, in milliseconds."""
        late = 1e3 * np.array(self.lateness or [0.0])
        median, most = np.percentile(late, (50, 99))
        return {
            "steps": self.steps,
            "robot_seconds": round(self.seconds, 3),
            "lost": self.lost,
            "late_ms_median": float(median),
            "late_ms_99": float(most),
            "late_ms_worst": float(late.max()),
            "share_within_2_ms": self.within(0.002),
        }
