"""What a model is fitted on, chosen by, and tested on: contiguous motion each, never random rows."""

from dataclasses import dataclass

from isthmus.actuators.log import ActuatorLog, joined
from isthmus.core import Problem

BLOCK = 2.0
"""Seconds of a block, where a log has few motions."""
MOTIONS = 5
"""From so many motions on, whole ones are held out."""
TURN = 5
"""One in so many blocks or motions is for testing, and one for validation."""


@dataclass(frozen=True)
class Split:
    """Three parts of a log."""

    train: ActuatorLog
    validation: ActuatorLog
    test: tuple[ActuatorLog, ...]
    """Blocks, each of which is reported."""
    how: str
    """In words."""


def split(log: ActuatorLog) -> Split:
    """Every fifth motion or block for testing, and another for validation."""
    names = list(dict.fromkeys(log.names))
    if len(names) >= MOTIONS:
        parts = [joined([one for one in log.segments() if one.names[0] == name]) for name in names]
        how = f"whole motions: {sum(n % TURN == 1 for n in range(len(parts)))} of {len(parts)} held out"
    else:
        parts = log.blocks(BLOCK)
        how = f"contiguous blocks of about {BLOCK:g} s: every fifth held out"
    if len(parts) < TURN:
        raise Problem(f"a log of {log.seconds:.0f} s gives {len(parts)} blocks, and {TURN} are needed: record more")
    turns = [number % TURN for number in range(len(parts))]
    train = joined([part for part, turn in zip(parts, turns, strict=True) if turn not in (1, 3)])
    validation = joined([part for part, turn in zip(parts, turns, strict=True) if turn == 3])
    return Split(train, validation, tuple(part for part, turn in zip(parts, turns, strict=True) if turn == 1), how)
