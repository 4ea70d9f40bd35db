"""Admits of every command the part that all limits allow, and nothing when they allow nothing."""

from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, check_settings


@dataclass(frozen=True)
class SafetySettings:
    """How far commands may go, and how long faults are tolerated. The limits themselves come from the robot."""

    step: float = 0.8
    """Largest change of a position command from one step to the next, in steps at the joint's speed limit.

    Below 1, because a drive overshoots, and because commands that are on their way for unequal times come closer
    together than they were sent.
    """
    lead: float = 4.0
    """Largest distance of a position command from where the joint is, in steps at its speed limit."""
    pull: float = 1.35
    """Distance of a position command from where the joint is, in steps at its speed limit, beyond which it moves no
    further away.

    The further ahead a command is, the faster a drive makes the joint. At a steady speed it is ahead by a step and by
    what the drive lags: a robot whose drives lag by more than half a step is slowed down, unless this is larger.
    """
    stale: float = 0.06
    """Seconds that an observation may be old before the robot is held."""
    overrun: float = 0.25
    """Seconds that a command may be late before the robot is held."""
    patience: float = 2.0
    """Seconds that a silent robot is waited for before it is given up."""
    blocked: float = 60.0
    """Seconds that an environment's reset may take before it is given up, and a step of one that cannot be held."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        check_settings((f"safety.{name}", value, bool(0 < value < 1e3)) for name, value in vars(self).items())


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
    pull: Float | None = None
    """Distance from the measured position (act,) beyond which a command does not move further away; None for any."""

    @staticmethod
    def of_positions(
        low: Float, high: Float, speeds: Float, period: float, settings: SafetySettings, names: tuple[str, ...] = ()
    ) -> "Limits":
        """Limits of joints that take positions, from their ranges and speed limits (act,) and the control period."""
        fast = speeds * period
        return Limits(low, high, fast * settings.step, fast * settings.lead, names, fast * settings.pull)

    @staticmethod
    def of_range(low: Float, high: Float) -> "Limits":
        """Limits of actuators of which only the range is known."""
        unclamped = np.full_like(low, np.inf)
        return Limits(low, high, unclamped, unclamped)

    def eased(self, command: Float, last: Float, measured: Float) -> Float:
        """The nearest command (act,) that pulls no joint harder than it may be; to stay at `last` always is one.

        A drive catches up with a command that is ahead of its joint, and the further that is, the faster.
        """
        if self.pull is None:
            return command
        return np.clip(command, np.minimum(last, measured - self.pull), np.maximum(last, measured + self.pull))

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
    """By the lead or by the pull."""


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

        Range, step and lead hold always; the pull where they leave a choice, and it never has the robot held.
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
        eased = limits.eased(command, last, measured)
        self._count(command, last, measured, eased)
        return np.minimum(np.maximum(eased, low), high)

    def _count(self, command: Float, last: Float, measured: Float, eased: Float) -> None:
        limits, clipped = self._limits, self.clipped
        clipped.commands += 1
        clipped.position += bool(((command < limits.low) | (command > limits.high)).any())
        clipped.step += bool((np.abs(command - last) > limits.step).any())
        clipped.lead += bool(((np.abs(command - measured) > limits.lead) | (command != eased)).any())
