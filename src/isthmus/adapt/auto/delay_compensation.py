"""Decide for the state in which a delayed command will take effect.

o_then = T(...T(T(o, a_1), a_2)..., a_d)        the d commands that are still on their way
a = pi(o_then)
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import FitReport, Method
from isthmus.core import Episode, Float, History, PolicyState, PolicyWrapper, Simulator
from isthmus.policies import Decision, TracedPolicy


@dataclass(frozen=True, slots=True)
class DelayCompensatedPolicy(PolicyWrapper):
    """A policy for a robot that is on time, asked where a late one will be."""

    policy: TracedPolicy
    simulator: Simulator
    delay: int

    def decide(self, history: History, state: PolicyState) -> tuple[Decision, PolicyState]:
        """The command for n histories, and what it is meant to reach once it takes effect."""
        return self.policy.decide(self._then(history), state)

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """Commands (n, act) for n histories, and the state for the next step."""
        return self.policy.act(self._then(history), state)

    def _then(self, history: History) -> History:
        observations = history.current
        for step in range(-self.delay, 0):
            observations = self.simulator.predict(History.of(observations), history.actions[:, step])
        return History.of(observations)


class DelayCompensatedMethod:
    """What another method has learned, for a robot that is late."""

    needs_target_data = True

    def __init__(self, method: Method, simulator: Callable[[], Simulator], delay: int) -> None:
        """Foresee in the latest `simulator` what `delay` commands come to that are on their way."""
        self._method, self._simulator, self._delay_steps = method, simulator, delay

    def __copy__(self) -> "DelayCompensatedMethod":
        """One that stays as it is when the method learns more."""
        return DelayCompensatedMethod(copy(self._method), self._simulator, self._delay_steps)

    @property
    def history(self) -> int:
        """How many observations it looks at: one, and the commands since."""
        return self._delay_steps + 1

    def policy(self) -> DelayCompensatedPolicy:
        """That one's, asked for later."""
        return DelayCompensatedPolicy(self._method.policy(), self._simulator(), self._delay_steps)

    def learn(
        self, episodes: Sequence[Episode], round_number: int, progress: Callable[[int, float], None]
    ) -> FitReport:
        """It learns from what was on time."""
        return self._method.learn(episodes, round_number, progress)

    @property
    def kind(self) -> str:
        """The kind of that method's state."""
        return self._method.kind

    def state(self) -> MethodState:
        """What that method has learned."""
        return self._method.state()

    def restore(self, state: MethodState) -> None:
        """Be as when that was the state."""
        self._method.restore(state)
