"""Where in frequency a simulator differs from a recording: coherence, transfer functions and spectra of errors.

All are averages over replays of one length: each is a segment in Welch's method, with Hann's window.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isthmus.core import Float
from isthmus.replay.recording import Recording
from isthmus.replay.windows import Windows

BANDS = (0.0, 1.0, 3.0, 10.0, 30.0, np.inf)
"""Hz that bound the bands in which errors are added up; the first holds drifts."""
Complex = NDArray[np.complex128]
CLEAR = 0.6
"""Coherence from which on a transfer function means something."""


@dataclass(frozen=True)
class JointSpectrum:
    """One joint and the actuator whose command it follows most."""

    joint: str
    actuator: str
    frequency: Float
    """(f,) Hz."""
    coherence: Float
    """(f,) of command and position, as recorded."""
    recorded: Complex
    """(f,) complex: transfer function from command to position."""
    simulated: Mapping[str, Complex]
    """The same of each model's replays."""
    bands: Mapping[str, Float]
    """Of each model: rms error in every band of `BANDS`."""

    def differs(self, model: str) -> tuple[float, float] | None:
        """The frequency at which a model's transfer function is farthest off, and its gain there over the recorded.

        None where no frequency is coherent.
        """
        clear = np.flatnonzero((self.coherence > CLEAR) & (self.frequency > 0) & (np.abs(self.recorded) > 0))
        if not len(clear):
            return None
        ratio = self.simulated[model][clear] / self.recorded[clear]
        worst = int(np.argmax(np.abs(ratio - 1)))
        return float(self.frequency[clear[worst]]), float(np.abs(ratio[worst]))


def spectra(recording: Recording, where: Windows, replays: Mapping[str, Float]) -> list[JointSpectrum]:
    """For every joint; `replays` are positions (W, length, n) by the name of the model."""
    frequency: Float = np.asarray(np.fft.rfftfreq(where.length, recording.dt), np.float64)
    commands, positions = (_transform(where.of(one)) for one in (recording.command, recording.position))
    models = {name: _transform(one) for name, one in replays.items()}
    power = _mean(commands, commands).real  # (f, m)
    out: list[JointSpectrum] = []
    for joint, name in enumerate(recording.joints):
        own = positions[..., joint, None]
        cross = _mean(commands, own)  # (f, m)
        level = power * _mean(own, own).real
        coherence = np.where(level > 0, np.abs(cross) ** 2 / np.where(level > 0, level, 1.0), 0.0)
        weight = _mean(own, own).real
        chosen = int(np.argmax((coherence * weight).sum(axis=0))) if coherence.shape[1] else 0
        below = np.where(power[:, chosen] > 0, power[:, chosen], np.inf)
        simulated = {model: _mean(commands[..., chosen], one[..., joint]) / below for model, one in models.items()}
        off = {
            model: _by_band(frequency, one[..., joint] - where.of(recording.position)[..., joint], where.length)
            for model, one in replays.items()
        }
        out.append(
            JointSpectrum(
                *(name, recording.actuators[chosen], frequency, coherence[:, chosen], cross[:, chosen] / below),
                *(simulated, off),
            )
        )
    return out


def _transform(values: Float) -> Complex:
    """(W, f, k) of values (W, length, k), without their means."""
    taper = np.hanning(values.shape[1] + 1)[:-1, None]
    return np.asarray(np.fft.rfft((values - values.mean(axis=1, keepdims=True)) * taper, axis=1), np.complex128)


def _mean(one: Complex, other: Complex) -> Complex:
    return np.asarray(np.mean(np.conj(one) * other, axis=0), np.complex128)


def _by_band(frequency: Float, off: Float, length: int) -> Float:
    """(bands,) rms of errors (W, length) in every band: their squares add up to the mean square."""
    power = np.abs(np.fft.rfft(off, axis=1)) ** 2 / length**2
    power[:, 1 : (length + 1) // 2] *= 2
    mean = power.mean(axis=0)
    return np.array([np.sqrt(mean[(frequency >= low) & (frequency < high)].sum()) for low, high in pairwise(BANDS)])
