"""Replays from the start that fits best, among those that the sensors cannot tell apart.

    dx = argmin |q - replay(x_0 + dx)|^2        |dq| <= r,  |dv| <= r / 50 ms        r what a sensor resolves

Where a robot balances, an error of the start that no sensor sees decides to which side it falls: the replay from the
measured start says little about the model there. Among all starts that the sensors allow, a good model has one that
stays with the robot, and a bad one may have none. All models get the same choice.
"""

from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float
from isthmus.replay.errors import AROUND, HorizonErrors, errors, resolution
from isthmus.replay.explain import predictor
from isthmus.replay.fit import Fitted
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.simulate import replay
from isthmus.replay.windows import Windows

SHARES = (0.1, 0.2, 0.3, 0.45, 0.65, 1.0)
"""Of a replay that starts are fitted to, one after the other: a short one is nearly linear in its start."""
ITERATIONS = 8
NUDGE = 1e-3
"""Finite differences, in what sensors resolve: after a second of balancing, they are 20,000 times as large."""
SAMPLES = 50
"""Samples of a replay that count, at most, evenly spread."""
LEAST, FASTER, SLOWER = 1e-6, 0.3, 5.0
"""Damping of Levenberg and Marquardt's method to begin with, and by how much it changes."""


def from_best_starts(rig: Rig, recording: Recording, where: Windows, fitted: Fitted | None = None) -> HorizonErrors:
    """The errors of replays from their best starts, beside the recorded positions."""
    moved, predict = best_starts(rig, recording, where, fitted), predictor(rig, fitted)
    return errors(lambda _recording, windows: predict(moved, windows), recording, where)


def best_starts(rig: Rig, recording: Recording, where: Windows, fitted: Fitted | None = None) -> Recording:
    """The recording with the best start in the first row of every window, for the model as it is or as `fitted`."""
    search = _Search(rig, recording, where, fitted)
    offset = np.zeros((len(where), 2 * len(recording.joints)))
    for share in SHARES:
        offset = search.along(max(3, round(share * where.length)), offset)
    return search.moved(offset)


@dataclass(frozen=True)
class _Search:
    """Starts (W, 2 n) of all windows, in what sensors resolve; no number is beyond 1."""

    rig: Rig
    recording: Recording
    where: Windows
    fitted: Fitted | None

    def moved(self, offset: Float) -> Recording:
        """The recording with these starts."""
        n, size = len(self.recording.joints), resolution(self.recording)
        position, velocity = self.recording.position.copy(), self.recording.velocity.copy()
        position[self.where.first] += size * offset[:, :n]
        velocity[self.where.first] += size / AROUND * offset[:, n:]
        return replace(self.recording, position=position, velocity=velocity)

    def errors(self, offset: Float, length: int) -> Float:
        """How far replays of some samples are off (W, samples), in what sensors resolve."""
        short = Windows(self.where.first, length)
        free, z = ((), None) if self.fitted is None else (self.fitted.free, self.fitted.z[None])
        course = replay(self.rig, self.moved(offset), short, free, z).position[0]
        rows = np.unique(np.linspace(1, length - 1, SAMPLES).round().astype(np.int64))
        off = (course - short.of(self.recording.position))[:, rows] / resolution(self.recording)
        return off.reshape(len(short), -1)

    def along(self, length: int, offset: Float) -> Float:
        """Better starts for replays of some samples."""
        now = self.errors(offset, length)
        damping = np.full(len(offset), LEAST)
        for _ in range(ITERATIONS):
            slopes = np.stack(
                [(self.errors(offset + nudge, length) - now) / NUDGE for nudge in NUDGE * np.eye(offset.shape[1])],
                axis=2,
            )  # (W, samples, 2 n)
            normal = slopes.transpose(0, 2, 1) @ slopes
            scale = np.einsum("wii->wi", normal)
            normal += np.eye(offset.shape[1]) * (damping[:, None] * scale + 1e-12)[:, None, :]
            step = np.asarray(np.linalg.solve(normal, -(slopes.transpose(0, 2, 1) @ now[..., None])), np.float64)
            tried = np.asarray(np.clip(offset + step[..., 0], -1.0, 1.0), np.float64)
            then = self.errors(tried, length)
            better = np.square(then).sum(axis=1) < np.square(now).sum(axis=1)
            offset, now = np.where(better[:, None], tried, offset), np.where(better[:, None], then, now)
            damping = np.clip(np.where(better, FASTER * damping, SLOWER * damping), 1e-12, 1e6)
        return offset
