"""Admits of every command the part that all limits allow, and nothing when they allow nothing."""

from dataclasses import asdict, dataclass

import numpy as np

from isthmus.core import Float
from isthmus.hardware.safety import SafetySettings


class Unsafe(Exception):  # noqa: N818 - a fact about the robot, not a programming error
    """No command is within all limits: the robot has to be held."""


@dataclass(frozen=True)
class Limits:
    """What a command must keep to, one number an actuator."""

    low: Float
    """Smallest command (act,)."""
    high: Float
    """Largest command (act,)."""
    step: Float
    """Largest change from one command to the next (act,); infinite where any change will do."""
    lead: Float
    """Largest distance of a command from the measured position (act,); infinite where commands are no positions."""
    names: tuple[str, ...] = ()
    """What messages call the actuators; by their numbers when empty."""

    @staticmethod
    def of_positions(
        low: Float, high: Float, speeds: Float, period: float, settings: SafetySettings, names: tuple[str, ...] = ()
    ) -> "Limits":
        """Limits of joints that take positions, from their ranges and speed limits (act,) and the control period."""
        return Limits(low, high, speeds * period * settings.step, speeds * period * settings.lead, names)

    @staticmethod
    def of_range(low: Float, high: Float) -> "Limits":
        """Limits of actuators of which only the range is known."""
        unclamped = np.full_like(low, np.inf)
        return Limits(low, high, unclamped, unclamped)

    def name(self, actuator: int) -> str:
        """What a message calls an actuator."""
        return self.names[actuator] if self.names else f"actuator {actuator}"


@dataclass
class Clipped:
    """How many commands were changed, by which limit."""

    commands: int = 0
    """That were looked at."""
    position: int = 0
    step: int = 0
    lead: int = 0

    def to_json(self) -> dict[str, int]:
        """As plain data."""
        return asdict(self)


class Guard:
    """Holds every command to the intersection of all limits."""

    def __init__(self, limits: Limits) -> None:
        """Hold commands to `limits`."""
        self._limits = limits
        self.clipped = Clipped()

    @property
    def limits(self) -> Limits:
        """What commands are held to."""
        return self._limits

    def admit(self, command: Float, last: Float, measured: Float) -> Float:
        """The nearest command (act,) within all limits, after the command `last` with the joints at `measured`.

        Raises `Unsafe` if a number is not finite, or if no command is within all limits: then the joint is too far from
        where it was sent, or the reading is wrong, and either way the robot has to be held.
        """
        if not (np.isfinite(command).all() and np.isfinite(last).all() and np.isfinite(measured).all()):
            raise Unsafe("a command or a reading is not finite")
        limits = self._limits
        low = np.maximum(np.maximum(limits.low, last - limits.step), measured - limits.lead)
        high = np.minimum(np.minimum(limits.high, last + limits.step), measured + limits.lead)
        if (low > high).any():
            joint = int(np.argmax(low - high))
            raise Unsafe(
                f"{limits.name(joint)} is at {measured[joint]:.4g} after a command of {last[joint]:.4g}: "
                f"no command is within its range ({limits.low[joint]:.4g} to {limits.high[joint]:.4g}), "
                f"{limits.step[joint]:.4g} from the last command and {limits.lead[joint]:.4g} from the reading"
            )
        self._count(command, last, measured)
        return np.minimum(np.maximum(command, low), high)

    def _count(self, command: Float, last: Float, measured: Float) -> None:
        limits, clipped = self._limits, self.clipped
        clipped.commands += 1
        clipped.position += bool(((command < limits.low) | (command > limits.high)).any())
        clipped.step += bool((np.abs(command - last) > limits.step).any())
        clipped.lead += bool((np.abs(command - measured) > limits.lead).any())
