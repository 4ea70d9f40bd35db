"""The columns of a log that may be joints and commands, on one clock, before anyone knows which is which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Bool, Float
from isthmus.logs.apply import apply, column_of, nominal_rate
from isthmus.logs.log_map import ActuatorSource, JointSources, LogMap, ObservationSource, Source
from isthmus.logs.pairing import LONGEST_LAG, Pairs, pair_columns
from isthmus.logs.robot_log import RobotLog
from isthmus.logs.roles import Cell
from isthmus.logs.series import Log
from isthmus.logs.smooth import smoothed, sound_rows, window_of

FASTEST = 250.0
"""Hz: a search for joints needs no more rows."""


@dataclass(frozen=True)
class RawMotion:
    """T rows of columns as they are in the log, but for the unit of positions."""

    log: RobotLog
    """With a joint for each column of positions, and an actuator for each command."""
    window: float
    """Rows, of what smooths them."""
    position: Float
    """(T, C) rad, smooth."""
    velocity: Float
    """(T, C) rad/s, of the positions."""
    acceleration: Float
    """(T, C) rad/s²."""
    measured_velocity: Float
    """(T, V) as in the log."""
    torque: Float
    """(T, Q) as in the log."""
    command: Float
    """(T, L) as in the log."""
    sound: Bool
    """(T,) which rows are far enough from gaps."""

    def velocity_pairs(self) -> Pairs:
        """Which column of velocities is the change of which position."""
        return pair_columns(self.velocity[self.sound], self.measured_velocity[self.sound])

    def command_pairs(self) -> Pairs:
        """Which command each position follows, if commands are positions."""
        longest = min(round(LONGEST_LAG / self.log.dt), len(self.position) // 4)
        return pair_columns(self.position, self.command, longest)


def raw_motion(log: Log, columns: Mapping[str, Sequence[Cell]], scales: Float, episode: Source | None) -> RawMotion:
    """Put all columns on one clock. Positions are scaled (C,) to rad."""
    position = [
        Source(cell.series, cell.column, 1, float(s)) for cell, s in zip(columns["position"], scales, strict=True)
    ]
    others = {role: [Source(cell.series, cell.column) for cell in columns[role]] for role in ("velocity", "torque")}
    commands = [Source(cell.series, cell.column) for cell in columns["command"]]
    rate = nominal_rate([column_of(log, one) for one in position])
    raw = apply(
        LogMap(
            joints=tuple(JointSources(str(number), one) for number, one in enumerate(position)),
            actuators=tuple(ActuatorSource(str(number), "0", one) for number, one in enumerate(commands)),
            observations=tuple(
                ObservationSource(f"{role} {number}", one)
                for role, sources in others.items()
                for number, one in enumerate(sources)
            ),
            rate=min(rate, FASTEST),
            episode=episode,
        ),
        log,
    )
    window = window_of(raw)
    rows = len(raw)

    def seen(role: str) -> Float:
        found = [raw.observations[f"{role} {number}"] for number in range(len(others[role]))]
        return smoothed(raw, np.stack(found, axis=1), window) if found else np.zeros((rows, 0))

    return RawMotion(
        log=raw,
        window=window,
        position=smoothed(raw, raw.position, window),
        velocity=smoothed(raw, raw.position, window, 1),
        acceleration=smoothed(raw, raw.position, window, 2),
        measured_velocity=seen("velocity"),
        torque=seen("torque"),
        command=np.zeros((rows, 0)) if raw.command is None else smoothed(raw, raw.command, window),
        sound=sound_rows(raw, window),
    )
