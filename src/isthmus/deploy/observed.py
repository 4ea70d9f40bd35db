"""A robot that somebody else commands: it is looked at at the control rate, and sent nothing, not even a hold."""

from collections.abc import Callable

import numpy as np

from isthmus.core import Bool, Estimator, Float, Lost, Step, WorldSpec
from isthmus.hardware import Stop
from isthmus.hardware.clock import WallClock
from isthmus.hardware.driver import Driver, columns
from isthmus.hardware.one_robot import OneRobot
from isthmus.hardware.real_robot import Wiring

LOOK = 0.02
"""Seconds that a reading is waited for in one go."""


class ObservedRobot(OneRobot):
    """A world whose commands lead nowhere.

    What is taken for applied is what the controller in charge has made of the joints: their next positions where
    commands are positions, and otherwise nothing is known of it.
    """

    def __init__(
        self,
        driver: Driver,
        spec: WorldSpec,
        wiring: Wiring,
        stop: Stop,
        *,
        begin: Callable[[np.random.Generator], Float],
        go_on: Callable[[Float], Float] | None,
        patience: float,
        estimator: Estimator | None = None,
    ) -> None:
        """Listen to the robot at the other end of `driver`; `begin` and `go_on` are the task's own numbers."""
        super().__init__(spec, estimator)
        self._driver, self._stop, self._patience = driver, stop, patience
        self._begin, self._go_on, self._wiring = begin, go_on, wiring
        if stop.during(lambda: driver.connect(stop)) is None:
            raise Lost(f"stopped ({stop.why}) before anything was heard")
        self._clock, self._due, self._looked = WallClock(), 0.0, 0.0
        self.lateness: list[float] = []
        """Seconds from each reading to the command that would have been given."""

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:  # noqa: ARG002
        """Begin with what the robot shows now."""
        self._observation = self._begin(rng)
        self._look(self._patience)
        self._due = self._clock.now()
        self._take_over(None)
        return self.observations

    def step(self, commands: Float, which: Bool | None = None) -> Step:  # noqa: ARG002
        """Leave the robot alone for one control period, and look again."""
        if self._stop.asked:
            raise Lost(f"stopped ({self._stop.why}): nothing was sent to the robot")
        self.lateness.append(self._clock.now() - self._looked)
        self._due = max(self._due + self._spec.control_period, self._clock.now())
        self._clock.wait_until(self._due, self._patience, self._stop)
        if self._go_on is not None:
            self._observation = self._go_on(self._observation)
        self._look(self._patience)
        reached = self._wiring.asked(self._observation[self._wiring.positions])
        applied = reached if self._spec.commands == "position" else commands[0]
        self._take_over(applied)
        return Step(self.observations, applied[None].copy(), np.array([False]))

    def close(self) -> None:
        """Hang up."""
        self._driver.close()

    def _look(self, patience: float) -> None:
        """Take the latest reading that has all joints."""
        end = self._clock.now() + patience
        while True:
            for reading in reversed(self._driver.observe(LOOK)):
                at = columns(reading.names, self._wiring.joints)
                if at is not None and np.isfinite(reading.positions[at]).all():
                    self._observation[self._wiring.positions] = reading.positions[at]
                    self._observation[self._wiring.velocities] = np.nan_to_num(reading.velocities[at])
                    self._looked = self._clock.now()
                    return
            if self._stop.asked or self._clock.now() > end:
                raise Lost(f"the robot showed no reading of all its joints for {patience:g} s")
