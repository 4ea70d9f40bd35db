"""What a fitted model still gets wrong from one sample to the next, learned from the recording."""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Float, Int, stream
from isthmus.replay.parameters import Parameter
from isthmus.replay.recording import Recording
from isthmus.replay.rig import Rig
from isthmus.replay.simulate import Residual, replay
from isthmus.replay.windows import windows
from isthmus.sysid.residual import Steps, fit_residual

STEPS = 4000
"""Steps that it is learned from, at most."""


def learn_residual(rig: Rig, recording: Recording, free: Sequence[Parameter], z: Float) -> Residual:
    """What velocities change by besides in a sample: ridge regression on random Fourier features."""
    where = windows(recording, recording.dt).thinned(STEPS)
    seen = replay(rig, recording, where, free, z[None])
    rows, n = where.first, len(rig.joints)
    lengths = [end - start for start, end in recording.bounds]
    motions = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    steps = Steps(
        np.hstack((recording.position[rows], recording.velocity[rows])),
        recording.command[rows],
        np.hstack((seen.position[0, :, 1], seen.velocity[0, :, 1])),
        np.hstack((recording.position[rows + 1], recording.velocity[rows + 1])),
        _folds(motions[rows], rows),
    )
    learned = fit_residual(steps, np.arange(n, 2 * n), stream(0, "replay", "residual"))

    def residual(position: Float, velocity: Float, command: Float, later: Float, faster: Float) -> Float:
        expected = np.hstack((later, faster))
        corrected = learned(np.hstack((position, velocity)), command, expected)
        return (corrected - expected)[:, n:]

    return residual


def _folds(motions: Int, rows: Int) -> Int:
    """Recordings are left out one after the other; of few, blocks of them are."""
    if len(np.unique(motions)) >= 5:
        return motions
    return np.asarray(rows * 10 // (rows.max() + 1), np.int64)
