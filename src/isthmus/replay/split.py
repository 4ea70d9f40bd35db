"""What a model is fitted on, chosen by, and tested on: whole recordings, or contiguous blocks where there are few."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from isthmus.core import Problem
from isthmus.replay.recording import Recording, joined

BLOCK = 2.0
"""Seconds of a block, where there are few recordings."""
RECORDINGS = 3
"""From so many recordings on, whole ones are held out."""
TURN = 5
"""One in so many blocks is for testing, and one for validation."""
TRAIN = 0.6
"""Share of the recordings that is fitted to, where nobody says how many."""


@dataclass(frozen=True)
class Split:
    """Three parts of a recording."""

    train: Recording
    validation: Recording
    test: Recording
    """Looked at once, when all is chosen."""
    how: str
    """In words."""


def split(recording: Recording, train: int | None = None) -> Split:
    """So many recordings to fit to, and of the others every third to choose by and the rest to test on."""
    names = recording.motions
    if len(names) < RECORDINGS:
        if train is not None:
            raise Problem(f"{len(names)} recordings cannot be split into {train} to fit to and others to test on")
        return _blocks(recording)
    count = max(1, round(TRAIN * len(names))) if train is None else train
    count = min(count, len(names) - 2) if train is None else count
    if not 1 <= count <= len(names) - 2:
        raise Problem(
            f"of {len(names)} recordings, 1 to {len(names) - 2} can be fitted to, since one is needed to choose by and "
            f"one to test on; got {train}"
        )
    chosen = sorted({int(one) for one in np.linspace(0, len(names) - 1, 2 * count + 1).round()[1::2]})
    others = [one for one in range(len(names)) if one not in chosen]
    while len(chosen) < count:
        chosen.append(others.pop())
    validation = others[::3] if len(others) > 2 else others[:1]
    test = [one for one in others if one not in validation]
    parts = [[names[one] for one in rows] for rows in (chosen, validation, test)]
    how = f"whole recordings: {len(parts[0])} to fit to, {len(parts[1])} to choose by, {len(parts[2])} held out"
    train_part, validation_part, test_part = (recording.only(one) for one in parts)
    return Split(train_part, validation_part, test_part, how)


def _blocks(recording: Recording) -> Split:
    parts: list[Recording] = []
    for (first, last), name in zip(recording.bounds, recording.names, strict=True):
        count = max(1, round((last - first) * recording.dt / BLOCK))
        cuts = np.linspace(first, last, count + 1).round().astype(int)
        parts += [recording.rows(int(a), int(b), f"{name} {a * recording.dt:.0f} s") for a, b in pairwise(cuts)]
    if len(parts) < TURN:
        raise Problem(
            f"recordings of {recording.seconds:.1f} s give {len(parts)} blocks of {BLOCK:g} s, and {TURN} are needed: "
            "record more"
        )
    turns = [number % TURN for number in range(len(parts))]
    kept = [[part for part, turn in zip(parts, turns, strict=True) if turn in rows] for rows in ((0, 2, 4), (3,), (1,))]
    how = f"contiguous blocks of about {BLOCK:g} s: every fifth held out, and another to choose by"
    train, validation, test = (joined(one) for one in kept)
    return Split(train, validation, test, how)
