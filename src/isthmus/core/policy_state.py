"""Run any policy with its state in the caller's hands."""

from typing import Protocol, TypeGuard, cast

from isthmus.core.arrays import Bool, Float
from isthmus.core.history import History
from isthmus.core.protocols import AnyPolicy, Policy, PolicyState, StatefulPolicy


def initial_state(policy: AnyPolicy, n: int) -> PolicyState:
    """The state of n robots that begin an episode; empty for a policy without memory."""
    return policy.initial_state(n) if _has_memory(policy) else {}


def act(policy: AnyPolicy, history: History, state: PolicyState | None = None) -> tuple[Float, PolicyState]:
    """Actions (n, act) for n histories, and the state for the next step; without a state, an episode begins."""
    if _has_memory(policy):
        return policy.act(history, policy.initial_state(len(history.observations)) if state is None else state)
    return cast("Policy", policy)(history), {}


def reset_rows(state: PolicyState, initial: PolicyState, rows: Bool) -> PolicyState:
    """The state, with that of the robots `rows` (n,) as it is at the start of an episode."""
    reset = {name: array.copy(order="K") for name, array in state.items()}  # in the same memory layout
    for name, array in reset.items():
        array[rows] = initial[name][rows]
    return reset


class _Wrapper(Protocol):
    @property
    def policy(self) -> AnyPolicy: ...


class PolicyWrapper:
    """A policy that asks another one, its `policy`, and remembers what that one remembers."""

    __slots__ = ()

    def initial_state(self: _Wrapper, n: int) -> PolicyState:
        """The state of n robots that begin an episode."""
        return initial_state(self.policy, n)


def _has_memory(policy: AnyPolicy) -> TypeGuard[StatefulPolicy]:
    return hasattr(policy, "act")  # isinstance() of a protocol is slow, and every control step asks
