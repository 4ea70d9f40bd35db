"""From logs in a robot's own terms to the recordings that replays need."""

from collections.abc import Sequence

import numpy as np

from isthmus.core import Problem
from isthmus.logs import RobotLog
from isthmus.replay.recording import Recording, joined
from isthmus.replay.smooth import smoothed

SAME = 0.002
"""Two recordings are one and the same if they differ by less than this share of how far joints go."""


def recordings(logs: Sequence[tuple[str, RobotLog]]) -> tuple[Recording, tuple[str, ...]]:
    """All logs as one recording, with a sentence for each thing that was noticed; `logs` have names.

    Velocities are estimated from positions without delay, whoever recorded what. A command that acts late stays where
    it was logged: the delay is part of the gap. One that acted before it was logged is moved.
    """
    parts: list[Recording] = []
    notes: list[str] = []
    for name, log in logs:
        if log.command is None or not log.actuators:
            raise Problem(f"{name} has no commands, so that nothing can be replayed: map them with `isthmus logs map`")
        moved = log.aligned() if log.command_delay < 0 else log
        part = _recording(name, moved)
        twin = next((one.names[0] for one in parts if _same(one, part)), None)
        if twin is not None:
            notes.append(f"{name} was left out: it is a recording of the same motion as {twin}")
            continue
        parts.append(part)
        notes += [note for note in log.notes if note not in notes and not note.startswith("velocities of")]
    return joined(parts), tuple(notes)


def _recording(name: str, log: RobotLog) -> Recording:
    command = log.command
    if command is None:
        raise ValueError("a log without commands")
    velocity = np.concatenate([smoothed(one.position, log.dt)[1] for one in log.segments()])
    return Recording(
        log.dt, log.joints, log.actuators, log.position, velocity, command, log.starts, (name,) * len(log.starts)
    )


def _same(one: Recording, other: Recording) -> bool:
    """Whether one is a copy of the other."""
    if abs(len(one) - len(other)) > 0.01 * len(one) or one.joints != other.joints:
        return False
    rows = min(len(one), len(other))
    off = np.sqrt(np.mean(np.square(one.position[:rows] - other.position[:rows]), axis=0))
    return bool((off < SAME * np.maximum(one.position.std(axis=0), 1e-9)).all())
