"""The terms of an observation spec, computed for n robots at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Problem, unknown_name
from isthmus.policies.observation.body import Body, into_frame, out_of_frame
from isthmus.policies.observation.spec import Numbers, TermSpec

COMMANDS = 3
"""Numbers of a usual command: forward and sideward speed, and rate of turning."""
DOWN = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class Now:
    """What the terms of n robots are computed from."""

    observations: Float  # (n, obs)
    qpos: Float  # (n, nq)
    qvel: Float  # (n, nv)
    actions: Float
    """The last actions of the network (n, lag, act), the newest first."""
    commands: Float
    """What was commanded by them, in the order of the network's actions (n, lag, act)."""
    seconds: Float
    """Since the episode began (n,)."""


Value = Callable[[Now], Float]


@dataclass(frozen=True)
class Term:
    """One term for one robot."""

    name: str
    size: int
    show: Value
    """What is shown (n, size)."""
    needs_state: bool


def make_term(term: TermSpec, body: Body, joints: tuple[str, ...], pose: Float) -> Term:
    """The term for a robot whose policy knows `joints` in that order, with the default `pose` (j,) of them."""
    value, size, needs_state = _value(term, body, joints, pose)
    return Term(term.name, size, _shaped(term, value, size), needs_state)


def _shaped(term: TermSpec, value: Value, size: int) -> Value:
    """clip((value - offset) * scale), without what changes nothing."""
    offset, scale = (_each(term, name, size) for name in ("offset", "scale"))
    clip = term.clip

    def show(now: Now) -> Float:
        shown = value(now)
        if offset is not None:
            shown = shown - offset
        if scale is not None:
            shown = shown * scale
        return shown if clip is None else np.clip(shown, *clip)

    return show


def _each(term: TermSpec, name: str, size: int) -> Float | None:
    given: Numbers = getattr(term, name)
    if given == {"offset": 0.0, "scale": 1.0}[name]:
        return None
    numbers = np.asarray(given, np.float64)
    if numbers.ndim and len(numbers) != size:
        raise Problem(f"term {term.name!r} shows {size} numbers, but its {name} has {len(numbers)}")
    return numbers


def _value(term: TermSpec, body: Body, joints: tuple[str, ...], pose: Float) -> tuple[Value, int, bool]:
    kind = term.kind
    if kind in ("joint_pos", "joint_vel"):
        return *_of_joints(term, body, joints, pose), True
    if kind in ("command", "observation"):
        return *_observed(term, body), False
    if kind == "last_action":
        lag, of = term.lag - 1, "actions" if term.of == "raw" else "commands"
        return lambda now: getattr(now, of)[:, lag], body.spec.action_size, False
    if kind.startswith("phase"):
        return *_phase(term, body), False
    return *_of_base(term, body), True


def _of_joints(term: TermSpec, body: Body, joints: tuple[str, ...], pose: Float) -> tuple[Value, int]:
    if term.joints:
        body.check_joints(term.joints, f"term {term.name!r}")
    names = term.joints or joints
    positions, velocities = body.columns(names)
    if term.kind == "joint_vel":
        return lambda now: now.qvel[:, velocities], len(names)
    if not term.relative or not pose.any():
        return lambda now: now.qpos[:, positions], len(names)
    known = dict(zip(joints, pose.tolist(), strict=True))
    if missing := [name for name in names if name not in known]:
        raise Problem(f"term {term.name!r} names {missing[0]!r}, of which the default pose says nothing")
    default = np.array([known[name] for name in names])
    return lambda now: now.qpos[:, positions] - default, len(names)


def _observed(term: TermSpec, body: Body) -> tuple[Value, int]:
    names = body.spec.observation_names
    source: Sequence[str | float] = term.source
    if not source:
        commanded = [name for name in names if name.split(" ")[0] == "command"]
        if not commanded:
            raise Problem(
                f"this robot observes no command, so term {term.name!r} needs from = [...]: names of observed numbers, "
                "or the numbers that are commanded"
            )
        source = [*commanded, *[0.0] * (COMMANDS - len(commanded))]
    for one in source:
        if isinstance(one, str) and one not in names:
            raise unknown_name(f"observed number in term {term.name!r}:", one, names)
    columns = np.array([names.index(one) if isinstance(one, str) else -1 for one in source])
    if (columns >= 0).all():
        return lambda now: now.observations[:, columns], len(columns)
    constant = np.array([0.0 if isinstance(one, str) else one for one in source])
    seen, at = columns[columns >= 0], np.flatnonzero(columns >= 0)

    def value(now: Now) -> Float:
        shown = np.tile(constant, (len(now.observations), 1))
        shown[:, at] = now.observations[:, seen]
        return shown

    return value, len(columns)


def _phase(term: TermSpec, body: Body) -> tuple[Value, int]:
    names, rate = body.spec.observation_names, 2 * np.pi / (term.period or 1.0)
    if term.clock and term.clock not in names:
        raise unknown_name(f"observed number in term {term.name!r}:", term.clock, names)
    column = names.index(term.clock) if term.clock else -1
    shifts = 2 * np.pi * np.array(term.shifts)
    parts = {"phase": (np.sin, np.cos), "phase_sin": (np.sin,), "phase_cos": (np.cos,)}[term.kind]

    def value(now: Now) -> Float:
        time = now.observations[:, column] if column >= 0 else now.seconds
        angles = rate * time[:, None] + shifts
        return np.concatenate([part(angles) for part in parts], axis=1)

    return value, len(parts) * len(shifts)


def _of_base(term: TermSpec, body: Body) -> tuple[Value, int]:
    if body.base is None:
        raise Problem(
            f"term {term.name!r} is of a free base, and this robot has none: show what it observes of its base by a "
            "term of kind 'observation'"
        )
    q, v = body.base
    turn, linear, angular = slice(q + 3, q + 7), slice(v, v + 3), slice(v + 3, v + 6)
    in_base = term.frame == "base"
    values: dict[str, tuple[Value, int]] = {
        "base_lin_vel": (
            (lambda now: into_frame(now.qpos[:, turn], now.qvel[:, linear]))
            if in_base
            else lambda now: now.qvel[:, linear],
            3,
        ),
        "base_ang_vel": (
            (lambda now: now.qvel[:, angular])
            if in_base
            else lambda now: out_of_frame(now.qpos[:, turn], now.qvel[:, angular]),
            3,
        ),
        "projected_gravity": (lambda now: into_frame(now.qpos[:, turn], DOWN), 3),
        "base_quat": (lambda now: now.qpos[:, turn], 4),
        "base_height": (lambda now: now.qpos[:, q + 2 : q + 3], 1),
    }
    return values[term.kind]
