"""Who gives the command of a step: the adapted policy, the policy as it was, or a blend of both; timed."""

import time
from dataclasses import dataclass, field

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, WorldSpec, act, initial_state

SOURCE = "as it was "
"""Begins the names of the unadapted policy's state: both may be policies of one kind."""
STEPS = "steps taken"


@dataclass(frozen=True)
class Choice:
    """One control step: what each policy would command, within limits (act,), and what was commanded."""

    adapted: Float
    unadapted: Float | None
    """None where it was not asked any more."""
    command: Float
    weight: float
    """Share of the adapted policy in the command."""
    seconds: float
    """That it took to compute."""


@dataclass(frozen=True)
class Steering:
    """A policy for one robot that goes from unadapted to adapted over some seconds, or only looks on."""

    policy: AnyPolicy
    """The adapted one."""
    unadapted: AnyPolicy | None
    spec: WorldSpec
    blend: float = 0.0
    """Seconds over which the adapted policy takes over; 0 for at once."""
    shadow: bool = False
    """Whether the unadapted policy is in command all along, and the adapted one computes beside it."""
    choices: list[Choice] = field(default_factory=list[Choice])
    """One for every step so far."""

    def initial_state(self, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        before: PolicyState = {} if self.unadapted is None else initial_state(self.unadapted, n)
        named = {f"{SOURCE}{name}": array for name, array in before.items()}
        return {**initial_state(self.policy, n), **named, STEPS: np.zeros(n, np.int64)}

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        """The command (1, act), and the state for the next step."""
        began = time.perf_counter()
        weight = self._weight(int(state[STEPS][0]))
        own = {name: array for name, array in state.items() if not name.startswith(SOURCE)}
        raw, after = act(self.policy, history, own)
        adapted, plain, source = self.spec.clip(raw), None, dict[str, np.ndarray]()
        command = raw
        if self.unadapted is not None and (weight < 1 or self.shadow):
            held = {name.removeprefix(SOURCE): one for name, one in state.items() if name.startswith(SOURCE)}
            plain_raw, plain_state = act(self.unadapted, history.last(1), held)
            plain = self.spec.clip(plain_raw)
            source = {f"{SOURCE}{name}": array for name, array in plain_state.items()}
            command = plain if weight == 0 else (1 - weight) * plain + weight * adapted
        seconds = time.perf_counter() - began
        chosen = self.spec.clip(command)[0]
        self.choices.append(Choice(adapted[0], None if plain is None else plain[0], chosen, weight, seconds))
        return command, {**after, **source, STEPS: state[STEPS] + 1}

    def _weight(self, steps: int) -> float:
        if self.shadow:
            return 0.0 if self.unadapted is not None else 1.0
        return min(1.0, steps * self.spec.control_period / self.blend) if self.blend > 0 else 1.0
