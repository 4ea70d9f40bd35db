"""How far replays are off, joint by joint, motion by motion and by how fast the robot moved."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Bool, Float
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.simulate import replay
from isthmus.replay.windows import Windows, fits, windows

LONG, SHORT = 1.0, 0.1
"""Seconds of the replays that are reported, besides a single step."""
MOST = 120
"""Replays of each length, at most."""
PROBE = 0.3
"""Seconds of the short replays that steadiness is looked at in."""
UNSTEADY = 3.0
"""A replay cannot be foretold if an error that no sensor sees grows by so much more than time alone makes it grow."""
FINEST = 1e-4
"""No sensor resolves less of a joint's travel: what lies below is noise, and the simulation's own rounding."""
SMALLEST = 1e-7
"""No sensor resolves less, in rad or m."""
AROUND = 0.05
"""Seconds in which a velocity is told from positions."""
Predictor = Callable[[Recording, Windows], Float]
"""Positions (W, length, n) that something expects in the windows of a recording."""


def hold(recording: Recording, where: Windows) -> Float:
    """The baseline: everything stays where it is."""
    return np.repeat(recording.position[where.first][:, None], where.length, axis=1)


@dataclass(frozen=True)
class HorizonErrors:
    """Of replays of one length."""

    seconds: float
    joints: Float
    """(n,) rms over all replays."""
    replays: Float
    """(W, n) rms of each."""

    @property
    def rms(self) -> float:
        """Over all joints."""
        return float(np.sqrt(np.mean(np.square(self.joints))))

    @property
    def median(self) -> float:
        """Of the replays, each over all joints."""
        return float(np.median(np.sqrt(np.mean(np.square(self.replays), axis=1))))


def horizons(recording: Recording) -> list[float]:
    """Seconds of the replays that a recording allows: a step, 100 ms, 1 s."""
    return [one for one in dict.fromkeys((recording.dt, max(SHORT, 2 * recording.dt), LONG)) if fits(recording, one)]


def judged(recording: Recording, seconds: float) -> Windows:
    """The windows that errors of that length are measured on: they overlap by half."""
    return windows(recording, seconds, 0.5).thinned(MOST if seconds > 5 * recording.dt else 2000)


def errors(predict: Predictor, recording: Recording, where: Windows) -> HorizonErrors:
    """How far off `predict` is in the windows; the sample that they begin with does not count."""
    off = (predict(recording, where) - where.of(recording.position))[:, 1:]
    each = np.sqrt(np.mean(np.square(off), axis=1))
    return HorizonErrors((where.length - 1) * recording.dt, np.sqrt(np.mean(np.square(each), axis=0)), each)


def travel(recording: Recording, where: Windows) -> Float:
    """(n,): how far joints go in a replay, rms: the error of who expects them to stay."""
    return np.maximum(errors(hold, recording, where).joints, 1e-9)


def resolution(recording: Recording) -> Float:
    """(n,): the smallest change of a position that occurs in the recording."""
    steps = np.abs(np.diff(recording.position, axis=0))
    span = np.ptp(recording.position, axis=0)
    steps = np.where(steps > 1e-9 * span, steps, np.inf)
    least = np.asarray(steps.min(axis=0), np.float64)
    return np.maximum(np.where(np.isfinite(least), least, 0.0), np.maximum(FINEST * span, SMALLEST))


def foretellable(rig: Rig, recording: Recording, where: Windows) -> Bool:
    """(W,): whether replays in the model as it is go nearly the same way from starts that sensors cannot tell apart.

    Where a robot balances, an error that no sensor sees decides to which side it falls. A wrong model may pass by such
    a place that the robot came to: short replays from where the robot was are looked at too.
    """
    steady = growth(rig, recording, where) < UNSTEADY
    if (where.length - 1) * recording.dt > 1.5 * PROBE and fits(recording, PROBE):
        probes = windows(recording, PROBE, 0.6)
        shaky = probes.first[growth(rig, recording, probes) >= UNSTEADY]
        last = where.first + where.length - probes.length
        steady &= np.array([not ((shaky >= a) & (shaky <= b)).any() for a, b in zip(where.first, last, strict=True)])
    return np.asarray(steady, np.bool_)


def growth(rig: Rig, recording: Recording, where: Windows) -> Float:
    """(W,): how much more an error of the start grows in a replay than it would if nothing but time went by."""
    course = replay(rig, recording, where).position[0]
    step = resolution(recording) / 2
    time = recording.dt * np.arange(1, where.length)
    worst = np.zeros(len(where))
    for joint in range(len(rig.joints)):
        nudge = np.zeros(len(rig.joints))
        nudge[joint] = step[joint]
        moved = replace(recording, position=recording.position + nudge, velocity=recording.velocity + nudge / AROUND)
        apart = np.linalg.norm((replay(rig, moved, where).position[0] - course)[:, 1:], axis=2)
        free = np.asarray(float(step[joint]) * (1 + time / AROUND), np.float64)
        worst = np.maximum(worst, np.sqrt(np.mean(np.square(apart), axis=1) / np.mean(np.square(free))))
    return worst
