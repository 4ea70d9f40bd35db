"""The bundle's own simulator as a robot to practise with: it keeps wall time, and is guarded as a real one is."""

import numpy as np

from isthmus.core import Bool, Float, Lost, Step, World, WorldSpec
from isthmus.hardware import Guard, Limits, SafetySettings, Stop, Unsafe, Watchdog
from isthmus.hardware.clock import WallClock
from isthmus.hardware.control import EARLY
from isthmus.hardware.real_robot import Wiring


class SimulatedRobot:
    """A world of one simulation whose steps take as long as they would on a robot."""

    n = 1

    def __init__(
        self, world: World, wiring: Wiring | None, settings: SafetySettings, stop: Stop, *, speed: float = 1.0
    ) -> None:
        """Guard `world` as the real robot that `wiring` describes; only by the range of its commands without one.

        `speed` is how many times as fast as real time it goes.
        """
        self._world, self._stop, self._settings = world, stop, settings
        self._period = world.spec.control_period / speed
        self._early = min(EARLY, self._period / 2)
        spec = world.spec
        ranges = Limits.of_range(spec.action_low, spec.action_high)
        self.guard = Guard(ranges if wiring is None else wiring.limits(spec.control_period, settings))
        self._wiring = wiring
        self._clock, self._deadline, self._held = WallClock(), 0.0, False
        self._sent = np.zeros(world.spec.action_size)
        self._observation = np.zeros(world.spec.observation_size)
        self.lateness: list[float] = []
        """Seconds from each deadline to the command."""
        self._dog = Watchdog(self._is_late, self._hold, stop)

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._world.spec

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Begin an episode."""
        self._dog.rest()
        seen = self._world.reset(rng, which)
        self._observation, self._held = seen[0], False
        begins = self._wiring is not None and self.spec.commands == "position"
        rest = self.spec.clip(np.zeros((1, self.spec.action_size)))[0]
        self._sent = self._positions() if begins else self._to_robot(rest)
        self._deadline = self._clock.now() + self._early
        self._dog.arm()
        return seen

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Give what the guard admits of a command (1, act), and wait one control period."""
        if self._stop.asked or self._held:
            raise Lost(f"stopped ({self._stop.why or self._dog.tripped}): the robot holds where it is")
        try:
            self._sent = self.guard.admit(self._to_robot(commands[0]), self._sent, self._positions())
        except Unsafe as error:
            self._hold()
            raise Lost(f"the robot is held: {error}") from error
        self.lateness.append(self._clock.now() - self._deadline)
        applied = (self._sent if self._wiring is None else self._wiring.asked(self._sent))[None]
        step = self._world.step(applied, which)
        self._observation = step.observations[0]
        due = max(self._deadline + self._period, self._clock.now())  # what is lost is not made up for
        self._clock.wait_until(due - self._early, self._settings.patience, self._stop)
        self._deadline = due
        return Step(step.observations, applied.copy(), step.ended)

    def close(self) -> None:
        """Stop looking on."""
        self._dog.close()

    def _to_robot(self, action: Float) -> Float:
        """What a robot is sent for an action (act,)."""
        return action if self._wiring is None else self._wiring.sent(action)

    def _positions(self) -> Float:
        """Where the joints are (act,); the last command where that is not known, so that it limits nothing."""
        return self._sent if self._wiring is None else self._observation[self._wiring.positions]

    def _is_late(self) -> str:
        late = self._clock.now() - self._deadline - self._period
        return f"a command is {late:.2f} s late" if late > self._settings.overrun else ""

    def _hold(self) -> None:
        self._held = True
