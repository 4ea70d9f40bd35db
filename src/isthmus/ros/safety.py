"""What keeps an arm out of harm's way, whoever sends the commands: always on for a robot."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, check_settings


@dataclass(frozen=True)
class SafetySettings:
    """How far commands may go. The defaults come from the robot's own limits; only the user loosens them."""

    step: float = 1.5
    """Largest change of a command from one step to the next, in steps at the joint's speed limit."""
    lead: float = 4.0
    """Largest distance of a command from where the joint is, in steps at its speed limit."""
    stale: float = 0.06
    """Seconds that an observation may be old before the arm is held."""
    overrun: float = 0.25
    """Seconds that a command may be late before the arm is held."""
    patience: float = 2.0
    """Seconds that a silent robot is waited for before it is given up."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings(
            (f"safety.{name}", value, bool(0 < value < 1e3))
            for name, value in (
                ("step", self.step),
                ("lead", self.lead),
                ("stale", self.stale),
                ("overrun", self.overrun),
                ("patience", self.patience),
            )
        )


@dataclass
class Clipped:
    """How many commands were changed, by what."""

    commands: int = 0
    """That were looked at."""
    position: int = 0
    step: int = 0
    lead: int = 0

    def to_json(self) -> dict[str, int]:
        """As plain data."""
        return {"commands": self.commands, "position": self.position, "step": self.step, "lead": self.lead}


class Guard:
    """Passes on what is safe of a command."""

    def __init__(self, low: Float, high: Float, speeds: Float, period: float, settings: SafetySettings) -> None:
        """Take the joints' ranges and speed limits, each (act,), and the control period."""
        self._low, self._high = low, high
        self._step, self._lead = speeds * period * settings.step, speeds * period * settings.lead
        self.clipped = Clipped()

    def admit(self, command: Float, last: Float, measured: Float) -> Float:
        """The part of a command (act,) that is safe after the `last` one with the joints at `measured`.

        The range is looked at last: nothing ever takes a joint out of it. A number that is not finite is no command.
        """
        if not np.isfinite(command).all():
            raise ValueError("a command is not finite")
        stepped = _within(command, last - self._step, last + self._step)
        led = _within(stepped, measured - self._lead, measured + self._lead)
        admitted = _within(led, self._low, self._high)
        self.clipped.commands += 1
        self.clipped.step += bool((stepped != command).any())
        self.clipped.lead += bool((led != stepped).any())
        self.clipped.position += bool((admitted != led).any())
        return admitted


def _within(values: Float, low: Float, high: Float) -> Float:
    return np.minimum(np.maximum(values, low), high)
