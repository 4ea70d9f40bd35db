"""The usual mistakes with a policy, each undone in turn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from isthmus.core import AnyPolicy, Float, History, PolicyState, PolicyWrapper, act
from isthmus.evaluate.preflight.inputs import held_inputs, standardised
from isthmus.tasks import Task

SCALES = (0.1, 0.25, 0.5, 2.0, 4.0, 10.0)
RATES = (0.5, 2.0, 4.0)
NORMALISER, RATE = "missing normaliser", "rate"


@dataclass(frozen=True)
class Mistake:
    """A mistake that may have been made, with what would be without it."""

    culprit: str
    remedy: str
    policy: AnyPolicy
    """The policy with the mistake undone."""
    task: Task
    """What it is to be run on."""
    exact: bool = True
    """Whether this is the policy as it was made, or only something near it."""
    spec_edits: tuple[str, ...] = ()
    """The remedy as edits of the policy's observation spec, where it is one."""


@dataclass(frozen=True)
class _OtherActions(PolicyWrapper):
    """A policy whose actions are changed."""

    policy: AnyPolicy
    change: Callable[[Float], Float]

    def act(self, history: History, state: PolicyState) -> tuple[Float, PolicyState]:
        actions, state = act(self.policy, history, state)
        return self.change(actions), state


def mistakes(task: Task, policy: AnyPolicy, bare: AnyPolicy | None) -> Iterator[Mistake]:
    """Each usual mistake, undone; `bare` is the policy if it has no normaliser that was given beside it."""
    yield from _signs(task, policy)
    yield from _orders(task, policy)
    for scale in SCALES:
        changed = _OtherActions(policy, lambda actions, scale=scale: actions * scale)
        yield Mistake("action scale", f"multiply actions by {scale:g}", changed, task)
    if bare is not None:
        remedy = "give the VecNormalize statistics it was trained with (--normaliser)"
        for mended in standardised(task, bare):
            yield Mistake(NORMALISER, remedy, mended, task, exact=False)
    for held, mended in held_inputs(task, policy):
        remedy = f"hold {held} at a constant: they seem to have been constant in training"
        yield Mistake("inputs that were constant in training", remedy, mended, task, exact=False)
    yield from rates(task, policy)


def _signs(task: Task, policy: AnyPolicy) -> Iterator[Mistake]:
    """All flipped, and each one alone."""
    names = task.robot_model.spec.action_names
    size = len(names)
    for signs in (-np.ones(size), *(1 - 2 * np.eye(size)[i] for i in range(size if size > 1 else 0))):
        flipped = ", ".join(name for name, sign in zip(names, signs, strict=True) if sign < 0)
        changed = _OtherActions(policy, lambda actions, signs=signs: actions * signs)
        yield Mistake("sign", f"flip the sign of {flipped}", changed, task)


def _orders(task: Task, policy: AnyPolicy) -> Iterator[Mistake]:
    names = task.robot_model.spec.action_names
    for order in _permutations(len(names)):
        columns, said = list(order), ", ".join(names[i] for i in order)
        changed = _OtherActions(policy, lambda actions, columns=columns: actions[:, columns])
        yield Mistake("joint order", f"actions are in the order {said}", changed, task)


def _permutations(size: int) -> list[Sequence[int]]:
    """Reversed, halves swapped (left and right), and every pair swapped."""
    orders: list[Sequence[int]] = [tuple(reversed(range(size)))]
    if size % 2 == 0:
        half = size // 2
        orders.append((*range(half, size), *range(half)))
    for i, j in combinations(range(size), 2):
        swapped = list(range(size))
        swapped[i], swapped[j] = j, i
        orders.append(tuple(swapped))
    return list(dict.fromkeys(tuple(order) for order in orders if tuple(order) != tuple(range(size))))


def rates(task: Task, policy: AnyPolicy) -> Iterator[Mistake]:
    """The policy at other control rates."""
    spec = task.robot_model.spec
    for rate in RATES:
        frames = task.robot_model.frame_skip * rate
        if frames >= 1 and frames == int(frames):
            period = spec.control_period * rate
            timed = replace(spec, control_period=period, horizon=max(int(spec.horizon / rate), 1))
            body = replace(task.robot_model, frame_skip=int(frames), spec=timed)
            slowed = replace(task, robot_model=body)
            yield Mistake(RATE, f"it was trained at {1 / period:g} Hz", policy, slowed, exact=False)
