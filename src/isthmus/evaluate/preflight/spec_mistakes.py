"""The usual mistakes with an observation spec, each undone by an edit of the spec.

Every remedy is the text of `--spec-edit` options: what `isthmus check` proposes can be given to any command, or be
written into the spec's file.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from isthmus.core import Problem
from isthmus.policies.observation import PRESETS, ObservationSpec, SpecPolicy, TermSpec
from isthmus.policies.observation.spec import Numbers

FACTORS = (0.05, 0.1, 0.25, 0.5, 2.0, 4.0, 10.0, 20.0)
"""By which a scale may be wrong; frameworks differ by these."""
MOST_GROUPS = 4
"""Groups of joints, as legs, of which every order is tried."""
FEW = 6
"""Joints of which every pair is swapped."""


@dataclass(frozen=True)
class SpecMistake:
    """A mistake that may have been made in a spec."""

    culprit: str
    edits: tuple[str, ...]
    policy: SpecPolicy
    """The policy with the mistake undone."""

    @property
    def remedy(self) -> str:
        """What to do, in words."""
        return "edit the observation spec: --spec-edit " + shlex.join(self.edits)


def spec_mistakes(policy: SpecPolicy) -> Iterator[SpecMistake]:
    """Each usual mistake, undone; edits that the robot or the spec does not allow are left out."""
    known = {policy.spec}
    for culprit, edits in _edits(policy):
        try:
            mended = policy.edited(*edits)
            fits = mended.shown.size == policy.shown.size
        except Problem:
            continue
        if fits and mended.spec not in known:
            known.add(mended.spec)
            yield SpecMistake(culprit, edits, mended)


def _edits(policy: SpecPolicy) -> Iterator[tuple[str, tuple[str, ...]]]:
    spec = policy.spec
    for term in spec.terms:
        yield from _of_term(term)
    yield from _default_pose(policy)
    yield from _actions(spec)
    yield from _stack(spec)
    yield from _term_order(spec)
    yield from _joint_order(policy)
    yield from _joint_signs(policy)


def _of_term(term: TermSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    name = term.name
    yield f"sign of term {name!r}", (f"term.{name}.scale={_times(term.scale, -1.0)}",)
    for factor in FACTORS:
        yield f"scale of term {name!r}", (f"term.{name}.scale={_times(term.scale, factor)}",)
    if term.kind in ("base_lin_vel", "base_ang_vel"):
        frame = "world" if term.frame == "base" else "base"
        yield f"frame of term {name!r}", (f"term.{name}.frame={frame}",)
    if term.kind == "last_action":
        for lag in {1, 2, term.lag + 1} - {term.lag}:
            yield f"stale or early action in term {name!r}", (f"term.{name}.lag={lag}",)
        of = "command" if term.of == "raw" else "raw"
        yield f"what term {name!r} calls an action", (f"term.{name}.of={of}",)
    if term.kind.startswith("phase") and term.period is not None:
        for factor in (0.5, 2.0):
            yield f"period of term {name!r}", (f"term.{name}.period={term.period * factor!r}",)
        yield f"shift of term {name!r}", (f"term.{name}.shifts={[one + 0.5 for one in term.shifts]}",)


def _default_pose(policy: SpecPolicy) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of the positions, of the actions, or of both."""
    spec = policy.spec
    shown = [
        (f"term.{term.name}.relative={str(not term.relative).lower()}", term.relative)
        for term in spec.terms
        if term.kind == "joint_pos"
    ]
    meant = f"actions.offset={'none' if spec.actions.offset == 'default_pose' else 'default_pose'}"
    for edit, relative in shown:
        yield "default pose that is shown, but should not be" if relative else "missing default pose", (edit,)
    yield "default pose of the actions", (meant,)
    if shown:
        yield "default pose of positions and actions", (*(edit for edit, _ in shown), meant)
    for pose in (*policy.body.poses, "middle"):
        yield "another default pose", (f"default_pose={pose}",)


def _actions(spec: ObservationSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "sign of the actions", (f"actions.scale={_times(spec.actions.scale, -1.0)}",)
    for factor in FACTORS:
        yield "scale of the actions", (f"actions.scale={_times(spec.actions.scale, factor)}",)


def _stack(spec: ObservationSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    stack = spec.stack
    if stack.frames == 1:
        return
    order = f"stack.order={'newest first' if stack.order == 'oldest first' else 'oldest first'}"
    by = f"stack.by={'term' if stack.by == 'frame' else 'frame'}"
    yield "order of the stack", (order,)
    yield "layout of the stack", (by,)
    yield "order and layout of the stack", (order, by)
    yield "fill of the stack", (f"stack.fill={'zero' if stack.fill == 'first' else 'first'}",)


def _term_order(spec: ObservationSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The orders of the presets, two terms swapped, and one term moved."""
    names = [term.name for term in spec.terms]
    orders: list[list[str]] = []
    for preset in PRESETS.values():
        theirs = [name for name in preset["terms"] if name in names]
        orders += [theirs] if len(theirs) == len(names) else []
    for i in range(len(names)):
        for j in range(len(names)):
            moved = names[:i] + names[i + 1 :]
            moved.insert(j, names[i])
            swapped = names.copy()
            swapped[i], swapped[j] = names[j], names[i]
            orders += [swapped, moved]
    for order in orders:
        if order != names:
            yield "order of the terms", (f"terms={_list(order)}",)


def _joint_order(policy: SpecPolicy) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Orders of the joints by leg and by kind, with legs in every order; for few joints also pairs swapped."""
    names = list(policy.spec.joints or policy.body.driven)
    orders = [list(policy.body.driven), sorted(names), names[::-1]]
    for groups in range(2, min(MOST_GROUPS, len(names)) + 1):
        if len(names) % groups == 0:
            orders += _grouped(names, groups)
    if len(names) <= FEW:
        for i in range(len(names)):
            for j in range(i):
                orders.append(names.copy())
                orders[-1][i], orders[-1][j] = names[j], names[i]
    for order in orders:
        if order != names:
            yield "order of the joints", (f"joints={_list(order)}",)
            if policy.spec.actions.joints:
                yield "order of the joints", (f"joints={_list(order)}", f"actions.joints={_list(order)}")


def _grouped(names: Sequence[str], groups: int) -> list[list[str]]:
    """The groups, which follow one another or are interleaved, in every order, both ways."""
    each = len(names) // groups
    blocks = np.arange(len(names)).reshape(groups, each)
    woven = np.arange(len(names)).reshape(each, groups).T
    found: list[list[str]] = []
    for order in permutations(range(groups)):
        for grid in (blocks[list(order)], woven[list(order)]):
            found += [[names[i] for i in flat.tolist()] for flat in (grid.ravel(), grid.T.ravel())]
    return found


def _joint_signs(policy: SpecPolicy) -> Iterator[tuple[str, tuple[str, ...]]]:
    """One joint that turns the other way, in all that is shown of it and in its action."""
    spec, names = policy.spec, list(policy.spec.joints or policy.body.driven)
    acted = list(spec.actions.joints or names)
    for joint in names if len(names) > 1 and sorted(acted) == sorted(names) else ():
        edits = [f"actions.scale={_flipped(spec.actions.scale, acted.index(joint), len(acted))}"]
        for term in spec.terms:
            shown = list(term.joints or names)
            if term.kind in ("joint_pos", "joint_vel") and joint in shown:
                edits.append(f"term.{term.name}.scale={_flipped(term.scale, shown.index(joint), len(shown))}")
        yield f"sign of the joint {joint!r}", tuple(edits)


def _flipped(scale: Numbers, at: int, size: int) -> list[float]:
    each = np.broadcast_to(np.asarray(scale, np.float64), size).copy()
    each[at] *= -1
    return each.tolist()


def _list(names: Sequence[str]) -> str:
    """Names as TOML has them, with quotes that a shell leaves alone within its own."""
    return json.dumps(list(names))


def _times(scale: Numbers, factor: float) -> str:
    made = np.round(np.asarray(scale) * factor, 12)
    return str(made.tolist())
