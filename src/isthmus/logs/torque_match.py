"""Which column of a log is which joint of a model: the one for which Newton's laws hold.

Inverse dynamics says what torque a motion takes if columns are read as joint positions in some order, with some signs,
scales and zero offsets. The right reading is the one whose torques explain the commands that were given, with friction
and rotor inertia of any size. Names are not needed; the base of the robot is taken to be held.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import Float
from isthmus.logs.assign import assign
from isthmus.logs.explain import unexplained, unmoved
from isthmus.logs.inverse_dynamics import InverseDynamics
from isthmus.logs.robot_body import Index, RobotBody

FLOOR = 1e-5
"""Share of a command's variance that is taken for noise while readings are searched."""
DOUBTED = 1e-3
"""Share of a command's variance that is taken for faults of the model when readings are judged."""
SAMPLES = 30.0
"""Independent samples that a joint's rows are worth, however many there are: a model's faults are in all of them."""
SLACK = 0.1
"""rad by which a joint may leave its limits."""
OUTSIDE = 30.0
"""Nats that it costs to leave the limits for all of the time, or by a rad."""
UNUSUAL = 1.0
"""Nats that it costs a joint to be in another place than the log's order, negated, or shifted."""
FAR = 1.0
"""Nats that it costs a zero to be a rad off: of readings that explain as much, the one that shifts least is taken."""
STILL = 1e-10
"""Variance of a command that never changes."""
AGAINST = 2.0
"""Nats that it costs a command to be negated where its position is not: commands come from programs, which know the
model's signs, or from drives, which have one sign for both."""
SHIFTED = 1.5
"""Nats that it costs a command to be shifted where it has another zero than its position, for the same reason."""
UNEQUAL, MOST_UNEQUAL = 0.3, 6.0
"""Standard deviation of the logarithm of gains between joints whose commands have one unit, and nats at most."""
NEAR = 0.02
"""rad that count as no offset."""


@dataclass(frozen=True)
class Reading:
    """How columns of a log are read as n joint positions: `sign * scale * column + offset`."""

    columns: Index
    """(n,) the column of each joint."""
    signs: Float
    """(n,) 1 or -1."""
    offsets: Float
    """(n,) rad."""
    scales: Float
    """(C,) of each column of the log: 1 where its unit was guessed right."""

    def of(self, joints: Index) -> "Reading":
        """How some of the joints are read."""
        return replace(self, columns=self.columns[joints], signs=self.signs[joints], offsets=self.offsets[joints])

    def put(self, joints: Index, part: "Reading") -> "Reading":
        """The reading with some of the joints read as a part of it says."""
        columns, scales = self.columns.copy(), self.scales.copy()
        signs, offsets = self.signs.copy(), self.offsets.copy()
        columns[joints], signs[joints], offsets[joints] = part.columns, part.signs, part.offsets
        scales[part.columns] = part.scales[part.columns]
        return Reading(columns, signs, offsets, scales)


@dataclass(frozen=True)
class Motion:
    """Columns of a log at some rows: N smooth moments of C columns, and what drove the robot then."""

    position: Float
    """(N, C) rad, by the guessed unit."""
    velocity: Float
    """(N, C)."""
    acceleration: Float
    """(N, C)."""
    drive: Float
    """(N, C) how far each column's command is ahead of it in the column's own sign, or (N, L) efforts."""
    servo: bool
    """Whether the drives follow positions: then `drive` has a column for each position."""

    command_signs: Float
    """(C,) of each column's command against it, where the drives follow positions."""
    command_offsets: Float
    """(C,) rad that are added to each column's command to have its zero, where the drives follow positions."""

    def rows(self, chosen: Index) -> "Motion":
        """The motion at fewer moments."""
        return replace(
            self,
            position=self.position[chosen],
            velocity=self.velocity[chosen],
            acceleration=self.acceleration[chosen],
            drive=self.drive[chosen],
        )


@dataclass(frozen=True)
class Explained:
    """How well a reading explains the commands."""

    left: Float
    """(n,) share of its command's variance that the torque of each joint leaves unexplained."""
    gains: Float
    """(n,) units of command a N m; 0 where the command does not depend on the torque."""
    drives: Index
    """(n,) which column of the drive is each joint's command; -1 for a joint without one."""
    strange: float
    """Nats that the reading costs for what is unusual about it."""
    shifts: float
    """Nats that the zeros cost for being far off: they choose between readings, and make none of them sure."""

    @property
    def score(self) -> float:
        """Nats: log likelihood of the commands, less what is unusual about the reading and its zeros."""
        return self.decided - self.shifts

    @property
    def decided(self) -> float:
        """The score but for the zeros: by as much as it differs between readings, the log decides."""
        return self.likelihood - self.strange

    @property
    def likelihood(self) -> float:
        """Nats: log likelihood of the commands."""
        return -SAMPLES / 2 * float(np.log(self.left + FLOOR).sum())

    @property
    def doubted(self) -> float:
        """The same if small differences are taken for faults of the model."""
        return -SAMPLES / 2 * float(np.log(self.left + DOUBTED).sum()) - self.strange


class TorqueMatch:
    """Scores readings of a motion."""

    def __init__(self, body: RobotBody, motion: Motion, usual: Index, usual_drives: Index) -> None:
        """Compare a motion with a body whose joints are expected in the columns `usual` (n,).

        The efforts of its actuators are expected in the columns `usual_drives` (m,) of the drive.
        """
        self.body, self.motion, self.usual, self.usual_drives = body, motion, usual, usual_drives
        self._dynamics = InverseDynamics(body)
        self.moments = 0
        self.least, self.most = motion.position.min(axis=0), motion.position.max(axis=0)
        self._slow = 0.05 * np.maximum(np.sqrt(np.mean(np.square(motion.velocity), axis=0)), 1e-6)

    moments: int
    """For how many moments inverse dynamics was asked so far."""

    def on(self, rows: Index) -> "TorqueMatch":
        """The same comparison at fewer moments."""
        return TorqueMatch(self.body, self.motion.rows(rows), self.usual, self.usual_drives)

    def of(self, joints: Index) -> "TorqueMatch":
        """The same comparison for some of the joints: those of a limb, which need no torques of other limbs."""
        kept = np.isin(self.body.moved, joints)
        return TorqueMatch(self.body.only(joints), self.motion, self.usual[joints], self.usual_drives[kept])

    def explained(self, reading: Reading) -> Explained:
        """Score one reading."""
        return self.explained_all([reading])[0]

    def explained_all(self, readings: Sequence[Reading], heavier: Float | None = None) -> list[Explained]:
        """Score many (B) readings, with links that are `heavier` (B, n) times as heavy as in the model."""
        positions, features = self.features(readings, heavier)
        return self.with_drive(readings, positions, features, self.motion.drive)

    def best(self, readings: Sequence[Reading]) -> tuple[Reading, Explained]:
        """The reading with the highest score, the first among equals."""
        found = self.explained_all(readings)
        place = int(np.argmax([one.score for one in found]))
        return readings[place], found[place]

    def features(self, readings: Sequence[Reading], heavier: Float | None = None) -> tuple[Float, Float]:
        """Positions (B, N, n) by each reading, and (B, n, N, 5) of each joint what may explain its command."""
        columns = np.stack([one.columns for one in readings])  # (B, n)
        scales = np.take_along_axis(np.stack([one.scales for one in readings]), columns, axis=1)
        factor = (np.stack([one.signs for one in readings]) * scales)[:, None]
        taken = [np.moveaxis(part[:, columns], 0, 1) for part in self._parts]  # (B, N, n)
        position = factor * taken[0] + np.stack([one.offsets for one in readings])[:, None]
        velocity, acceleration = factor * taken[1], factor * taken[2]
        self.moments += position.shape[0] * position.shape[1]
        flat = (part.reshape(-1, part.shape[2]) for part in (position, velocity, acceleration))
        weights = None if heavier is None else np.repeat(heavier, position.shape[1], axis=0)
        torque = self._dynamics.torques(*flat, heavier=weights).reshape(position.shape)
        direction = np.tanh(velocity / (scales * self._slow[columns])[:, None])
        parts = (torque, acceleration, velocity, direction, np.ones_like(torque))
        return position, np.stack([np.swapaxes(part, 1, 2) for part in parts], axis=3)

    @property
    def _parts(self) -> tuple[Float, Float, Float]:
        return self.motion.position, self.motion.velocity, self.motion.acceleration

    def with_drive(
        self, readings: Sequence[Reading], positions: Float, features: Float, drive: Float
    ) -> list[Explained]:
        """Score readings whose features are known, as if another drive (N, L) had acted."""
        if self.motion.servo:
            return self._followed(readings, features, drive)
        moved = self.body.moved
        left, gains, _ = unexplained(features[:, moved], drive, one_sided=False)  # (B, m, L)
        variance = np.var(drive, axis=0)
        left = np.where(variance > STILL, left / np.maximum(variance, STILL), 1.0)
        passive = self.body.passive
        still = np.zeros_like(positions.reshape(-1, positions.shape[2]))
        gravity = self._dynamics.torques(positions.reshape(still.shape), still, still) if passive.any() else still
        gravity = gravity.reshape(positions.shape)
        return [
            self._assigned(reading, left[number], gains[number], features[number], gravity[number])
            for number, reading in enumerate(readings)
        ]

    def _followed(self, readings: Sequence[Reading], features: Float, drive: Float) -> list[Explained]:
        """Scores where drives follow positions: each column has a command of its own."""
        columns, signs = (np.stack(part) for part in zip(*((r.columns, r.signs) for r in readings), strict=True))
        error = np.moveaxis(drive[:, columns], 0, 2) * signs[:, :, None]  # (B, n, N)
        left, gains, before = unexplained(features, error[..., None], one_sided=True)
        # Friction explains most of what a drive lags behind, in any reading: only the rest tells readings apart.
        share = np.where(before > STILL, left / np.maximum(before, STILL), 1.0)[..., 0]
        return [
            Explained(share[number], gains[number, :, 0], one.columns, self._unusual(one), _shifts(one))
            for number, one in enumerate(readings)
        ]

    def _assigned(self, reading: Reading, left: Float, gains: Float, features: Float, gravity: Float) -> Explained:
        """The command of each joint that has one, so that all commands are explained as well as can be."""
        moved, count = self.body.moved, len(reading.columns)
        against = (gains < 0) & (reading.signs[moved] > 0)[:, None]
        places = np.arange(left.shape[1], dtype=np.intp)
        elsewhere = np.asarray(self.usual_drives[:, None] != places, np.float64)
        strange = AGAINST * np.asarray(against, np.float64) + UNUSUAL * elsewhere
        rows, columns = assign(SAMPLES / 2 * np.log(left + FLOOR) + strange)
        share, gain, drives = np.ones(count), np.zeros(count), np.full(count, -1)
        share[moved[rows]], gain[moved[rows]], drives[moved[rows]] = left[rows, columns], gains[rows, columns], columns
        for joint in np.flatnonzero(self.body.passive):
            share[joint] = unmoved(features[joint], gravity[:, joint])
        cost = float(strange[rows, columns].sum()) + unequal(gains[rows, columns], self.body.gear[rows])
        return Explained(share, gain, drives, cost + self._unusual(reading), _shifts(reading))

    def _unusual(self, reading: Reading) -> float:
        """Nats that a reading costs before any motion is looked at."""
        columns, signs, offsets = reading.columns, reading.signs, reading.offsets
        ends = signs * reading.scales[columns] * np.stack([self.least[columns], self.most[columns]]) + offsets
        beyond = np.maximum(self.body.low - ends.min(axis=0), 0) + np.maximum(ends.max(axis=0) - self.body.high, 0)
        beyond = np.maximum(beyond - SLACK, 0)
        strange = (columns != self.usual) + 1.0 * (signs < 0) + 1.0 * (np.abs(offsets) > NEAR)
        strange = strange + 2.0 * (reading.scales[columns] != 1)
        cost = UNUSUAL * strange.sum() + OUTSIDE * np.minimum(beyond, 2).sum()
        if self.motion.servo:
            turned, apart = self.motion.command_signs[columns] < 0, self.motion.command_offsets[columns]
            shifted = (apart != 0) & (np.abs(offsets + signs * apart) > NEAR)
            cost += AGAINST * (turned & (signs > 0)).sum() + SHIFTED * shifted.sum()
        return float(cost)


def _shifts(reading: Reading) -> float:
    return FAR * float(np.abs(reading.offsets).sum())


def unequal(gains: Float, gear: Float) -> float:
    """Nats that it costs commands to have other units from joint to joint: all are torques, or all are controls."""
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(gains))
    size = size[np.isfinite(size)]
    if len(size) != len(gear):
        return 0.0
    apart = [one - np.median(one) for one in (size, size + np.log(np.abs(gear)))]
    return float(min(np.minimum(np.square(one / UNEQUAL) / 2, MOST_UNEQUAL).sum() for one in apart))
