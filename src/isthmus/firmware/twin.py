"""A statistical twin of a firmware: what training needs to know of it, at a few per cent of the cost of physics.

A firmware acts on samples that are some milliseconds old, a different age for every joint and every command, and
rounded to the bits of a frame. A parametric model of these delays does not match (a queue on a bus is no distribution
that one would think of); the recorded ages do. The twin keeps them in the order in which they occurred and replays
each joint's from a random place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from isthmus.core import Float, Int, Problem, Rows, WorldSpec
from isthmus.firmware.board import Board
from isthmus.io import load_arrays, save_arrays
from isthmus.sim import Fields

KIND = "firmware twin"
COMMAND, HOST_BYTES, HOST_SENT = 12, 6, 18
"""Kinds of trace events: a command has reached a motor; a byte of the host has reached the firmware; the host sends."""
FEWEST = 200
"""Commands a joint: with fewer, the ages say little."""
LONGEST = 1.0
"""Seconds: an older sample is a lost joint, not a late one."""


@dataclass(frozen=True)
class Twin:
    """Recorded ages of what reaches the joints, and the rounding of what they report."""

    joints: tuple[str, ...]
    period_s: float
    """Mean time between two commands to a joint."""
    ages_s: Float
    """(joints, L) age of the joint's sample when a command that knows it reaches the motor, in order of time."""
    action_ages_s: Float
    """(joints, M) how old the target is that a motor follows, compared with the newest one: the mean over each of the
    host's periods, in order of time. A target that takes 5 ms to arrive is 5 ms old, a lost one a period more."""
    position_quantum: float
    """rad; 0 is none."""
    velocity_quantum: float
    """rad/s; 0 is none."""

    def __post_init__(self) -> None:
        """Refuse ages that make no sense."""
        for name, ages in (("ages", self.ages_s), ("action ages", self.action_ages_s)):
            if ages.ndim != 2 or ages.shape[0] != len(self.joints) or not ages.shape[1]:
                raise Problem(f"the twin's {name} have shape {ages.shape}, expected ({len(self.joints)}, one or more)")
            if not (np.isfinite(ages).all() and (ages >= 0).all() and (ages <= LONGEST).all()):
                raise Problem(f"the twin's {name} are not all between 0 and {LONGEST:g} s")
        sensible = 0 < self.period_s <= LONGEST and self.position_quantum >= 0 and self.velocity_quantum >= 0
        if not (sensible and np.isfinite([self.position_quantum, self.velocity_quantum]).all()):
            raise Problem("the twin's period or quanta are not sensible numbers")

    def sensors(self, n: int, of_joint: Sequence[int], quanta: Sequence[float], dt: float) -> "Resampled":
        """A channel for n worlds that is called every `dt`: each value as old as its joint's samples are.

        `of_joint` has the joint of each value, -1 for one that is not delayed; `quanta` its rounding.
        """
        return Resampled(n, self.ages_s, of_joint, quanta, dt, round(dt / self.period_s))

    def actions(self, n: int, of_joint: Sequence[int], dt: float) -> "Resampled":
        """A channel for n worlds between the host's targets and the motors."""
        return Resampled(n, self.action_ages_s, of_joint, [0.0] * len(of_joint), dt, 1)

    def save(self, path: Path) -> None:
        """Write the twin to `path`."""
        meta = {
            "kind": KIND,
            "joints": list(self.joints),
            "period_s": self.period_s,
            "position_quantum": self.position_quantum,
            "velocity_quantum": self.velocity_quantum,
        }
        save_arrays(path, {"ages_s": self.ages_s, "action_ages_s": self.action_ages_s}, meta)


def load_twin(path: Path) -> Twin:
    """The twin that `Twin.save` wrote."""
    arrays, meta = load_arrays(path, KIND, follow=True)
    try:
        numbers = [float(meta[name]) for name in ("period_s", "position_quantum", "velocity_quantum")]
        ages, action_ages = (np.asarray(arrays[name], np.float64) for name in ("ages_s", "action_ages_s"))
        return Twin(tuple(str(name) for name in meta["joints"]), numbers[0], ages, action_ages, *numbers[1:])
    except (KeyError, TypeError, ValueError) as e:
        raise Problem(f"{path} is not a whole {KIND} file: {e}") from None


def ages_of(events: np.ndarray, joint: int, after_s: float = 0.0) -> Float:
    """The ages (L,) of a joint's samples at each command of a trace from `after_s` on, s."""
    of_joint = events[(events["kind"] == COMMAND) & (events["source"] == joint) & (events["t"] >= after_s * 1e9)]
    return of_joint["a"][of_joint["a"] >= 0] * 1e-9


def fit_twin(
    events: np.ndarray, joints: Sequence[str], position_quantum: float, velocity_quantum: float, after_s: float = 1.0
) -> Twin:
    """A twin from a trace of the firmware in its loop, from `after_s` on."""
    events = events[events["t"] >= after_s * 1e9]
    every = [ages_of(events, joint) for joint in range(len(joints))]
    fewest = min((len(ages) for ages in every), default=0)
    if fewest < FEWEST:
        raise Problem(f"the trace has only {fewest} commands for a joint, a twin needs {FEWEST}: record for longer")
    ages = np.minimum(np.stack([one[:fewest] for one in every]), LONGEST)
    action_ages = [_action_ages(events, joint) for joint in range(len(joints))]
    shortest = min(len(one) for one in action_ages)
    at = np.unique(events["t"][(events["kind"] == COMMAND) & (events["source"] == 0)])
    period = float(np.mean(np.diff(at))) * 1e-9
    delays = np.stack([one[:shortest] for one in action_ages]) if shortest else np.full((len(joints), 1), period / 2)
    return Twin(tuple(joints), period, ages, np.minimum(delays, LONGEST), position_quantum, velocity_quantum)


def _action_ages(events: np.ndarray, joint: int) -> Float:
    """How old what a joint follows is in each of the host's periods, on average, s (M,)."""
    sent, complete = _frames(events)
    arrived = np.isfinite(complete)
    commands = events["t"][(events["kind"] == COMMAND) & (events["source"] == joint)]
    newest = np.searchsorted(complete[arrived], commands, "right") - 1
    period = np.searchsorted(sent, commands, "right") - 1
    known = (newest >= 0) & (period >= 0) & (period < len(sent) - 1)  # the last period may be cut short
    late = (sent[period[known]] - sent[arrived][newest[known]]) * 1e-9
    count = np.bincount(period[known], minlength=len(sent))
    total = np.bincount(period[known], late, minlength=len(sent))
    return total[count > 0] / count[count > 0]


def _frames(events: np.ndarray) -> tuple[Float, Float]:
    """When the host sent each frame, and when each was with the firmware whole, ns; infinite for one that was lost."""
    sends, bytes_in = events[events["kind"] == HOST_SENT], events[events["kind"] == HOST_BYTES]
    sent, complete = sends["t"].astype(np.float64), np.full(len(sends), np.inf)
    for k, (number, size) in enumerate(zip(sends["b"], sends["a"], strict=True)):
        at = bytes_in["t"][bytes_in["b"] == number]
        if len(at) == size:
            complete[k] = at[-1]
    return sent, complete


@final
class Resampled:
    """A channel whose values come out as old as recorded ages, interpolated between calls, and rounded."""

    def __init__(
        self, n: int, ages_s: Float, of_joint: Sequence[int], quanta: Sequence[float], dt: float, stride: int
    ) -> None:
        """Set up n worlds; `ages_s` (joints, L) advance by `stride` records a call."""
        self._columns: Int = np.flatnonzero(np.asarray(of_joint) >= 0)
        self._joint: Int = np.asarray(of_joint, np.int64)[self._columns]
        if len(self._joint) and self._joint.max() >= len(ages_s):
            raise Problem(f"the twin knows {len(ages_s)} joints, joint {self._joint.max()} is not one of them")
        self._steps = np.ascontiguousarray(ages_s.T / dt)  # (L, joints), in calls
        self._stride = max(1, stride)
        self._length = int(np.ceil(self._steps.max())) + 2
        self._quanta = np.asarray(quanta, np.float64)
        self._rounded: Int = np.flatnonzero(self._quanta > 0)
        self._worlds = np.arange(n)
        self._past = np.zeros((self._length, n, len(self._columns)))  # a ring over calls
        self._at = np.zeros((n, ages_s.shape[0]), np.int64)
        self._now = 0

    @property
    def calls_kept(self) -> int:
        """How many calls back the oldest value can be."""
        return self._length

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:  # noqa: ARG002
        """Until something newer arrives `first` is what comes out; the ages start at a random place."""
        self._past[:, rows] = first[:, self._columns]
        self._at[rows] = rng.integers(len(self._steps), size=self._at[rows].shape)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:  # noqa: ARG002
        """The values (m, size) of some time ago; each column by its joint's age."""
        worlds = self._worlds[rows]
        self._now = (self._now + 1) % self._length
        # Worlds that stand still keep their last values: they are copied along, so that one index serves all.
        if len(worlds) < len(self._worlds):
            self._past[self._now] = self._past[self._now - 1]
        self._past[self._now, worlds] = values[:, self._columns]
        at = (self._at[worlds] + self._stride) % len(self._steps)
        self._at[worlds] = at
        age = self._steps[at, np.arange(at.shape[1])][:, self._joint]  # (m, columns)
        whole = age.astype(np.int64)
        part = age - whole
        places = np.arange(len(self._columns))
        slot = self._now - whole
        newer = self._past[slot % self._length, worlds[:, None], places]
        older = self._past[(slot - 1) % self._length, worlds[:, None], places]
        out = values.copy()
        out[:, self._columns] = newer + part * (older - newer)
        if len(self._rounded):
            quanta = self._quanta[self._rounded]
            out[:, self._rounded] = np.round(out[:, self._rounded] / quanta) * quanta
        return out


def links(twin: Twin, spec: WorldSpec) -> "Callable[[int], tuple[Resampled, Resampled]]":
    """Makes the channels of commands and of observations of a robot, whose joints are found by their names.

    An observation that has a joint's name is its position, one with `velocity` after it its velocity.
    """
    unknown = [name for name in spec.action_names if name not in twin.joints]
    if unknown:
        raise Problem(f"the twin knows {', '.join(twin.joints)}, and the robot's actuator {unknown[0]} is none of them")
    driven = [twin.joints.index(name) for name in spec.action_names]
    seen = [name.removesuffix(" velocity") for name in spec.observation_names]
    of_joint = [twin.joints.index(name) if name in twin.joints else -1 for name in seen]
    quanta = [
        0.0 if joint < 0 else twin.velocity_quantum if name.endswith(" velocity") else twin.position_quantum
        for joint, name in zip(of_joint, spec.observation_names, strict=True)
    ]
    dt = spec.control_period
    return lambda n: (twin.actions(n, driven, dt), twin.sensors(n, of_joint, quanta, dt))


def kolmogorov_smirnov(a: Float, b: Float) -> float:
    """The largest difference between the distribution functions of two samples of ages, s.

    Ages are taken to the microsecond: many are alike to rounding, and those are to be counted as equal.
    """
    a, b = np.sort(np.round(a, 6)), np.sort(np.round(b, 6))
    both = np.concatenate([a, b])
    return float(np.abs(np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)).max())


def replayed_ages(twin: Twin, n: int, calls: int, seed: int) -> Float:
    """The ages (joints, n * calls) that come out of the twin's channel, found by sending the time itself through it."""
    joints = len(twin.joints)
    channel = twin.sensors(n, range(joints), [0.0] * joints, twin.period_s)
    channel.begin(np.zeros((n, joints)), {}, np.random.default_rng(seed), slice(None))
    warm = channel.calls_kept
    out = np.zeros((calls, n, joints))
    for k in range(calls + warm):
        now = (k + 1) * twin.period_s
        aged = now - channel(np.full((n, joints), now), {}, slice(None))
        if k >= warm:
            out[k - warm] = aged
    return out.transpose(2, 0, 1).reshape(joints, -1)


def quanta_of(board: Board) -> tuple[float, float]:
    """The rounding of positions and velocities in the frames of the board's motors: 16 and 12 bits over their range."""
    knobs = next((device.knobs for device in board.devices if device.type == "mit-motor"), dict[str, float]())
    return 2 * knobs.get("p_max", 12.5) / (2**16 - 1), 2 * knobs.get("v_max", 45.0) / (2**12 - 1)
