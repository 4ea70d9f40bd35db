"""How hard a policy works the actuators: a score says nothing of a robot that shakes itself to pieces."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Bool, Float, WorldSpec

NEAR = 1e-6
"""An action this close to a limit, in half ranges, is at it."""
TIMES, MORE = 1.5, 0.05
"""A policy chatters whose command rate is so many times that of another, and so many half ranges a step above it."""


@dataclass(frozen=True)
class Effort:
    """What the actuators were asked for within their limits, over all actuators and steps of some episodes."""

    effort: float
    """Root mean square of the actions, in half ranges from the middle of each."""
    command_rate: float
    """Root mean square of their change from one control step to the next, in half ranges."""
    at_limits: float
    """Share of the time that an actuator spends at a limit."""
    steps: int
    """Control steps behind these figures."""

    def chatters_beside(self, other: "Effort") -> bool:
        """Whether commands change much more from step to step than the other's."""
        return self.command_rate > max(TIMES * other.command_rate, other.command_rate + MORE)

    @staticmethod
    def joined(parts: "Sequence[Effort]") -> "Effort":
        """That of all episodes together."""
        steps = np.array([part.steps for part in parts])

        def mean(name: str, power: int) -> float:
            values = np.array([getattr(part, name) for part in parts]) ** power
            return float(np.average(values, weights=steps) ** (1 / power))

        return Effort(mean("effort", 2), mean("command_rate", 2), mean("at_limits", 1), int(steps.sum()))


class EffortMeter:
    """Adds up what actuators accept in n robots."""

    def __init__(self, spec: WorldSpec, n: int) -> None:
        """Start before the first step."""
        self._spec, self._last, self._begun = spec, np.zeros((n, spec.action_size)), np.zeros(n, np.bool_)
        self._squares = self._changes = 0.0
        self._limited = self._steps = self._pairs = 0

    def begin(self) -> None:
        """All robots begin another episode: the step from the one before is none."""
        self._begun[:] = False

    def add(self, applied: Float, running: Bool) -> None:
        """Actions (n, act) that were applied in one step of the robots that are `running` (n,)."""
        share = (applied - self._spec.middle) / self._spec.half_range
        both = running & self._begun
        self._squares += float(np.square(share[running]).sum())
        self._changes += float(np.square((share - self._last)[both]).sum())
        self._limited += int((np.abs(share[running]) >= 1 - NEAR).sum())
        self._steps, self._pairs = self._steps + int(running.sum()), self._pairs + int(both.sum())
        self._last = np.where(running[:, None], share, self._last)
        self._begun |= running

    @property
    def effort(self) -> Effort:
        """What it comes to so far."""
        act = self._spec.action_size
        steps, pairs = max(self._steps * act, 1), max(self._pairs * act, 1)
        rms, rate = (float(np.sqrt(total / n)) for total, n in ((self._squares, steps), (self._changes, pairs)))
        return Effort(rms, rate, self._limited / steps, self._steps)
