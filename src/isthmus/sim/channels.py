"""Channels: what lies between a command and its actuator, or between a sensor and the observation.

`size` numbers go in and come out. A channel keeps its own state for n worlds and is shown the robots' state: a delay or
noise has no use for it, an actuator model computes torques from it.
"""

from collections.abc import Sequence
from typing import Protocol, final

import numpy as np

from isthmus.core import Float, Rows
from isthmus.sim.robot_model import Fields
from isthmus.sim.row_streams import Streams


class Channel(Protocol):
    """What values go through, in each of n worlds."""

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Start a new episode in the m worlds `rows`; `first` (m, size) is what was there before it.

        `fields` are the live MuJoCo fields of all n worlds (n, ...), in the first state of the episode.
        """
        ...

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """What comes out of `rows` when values (m, size) go in: a new array. `fields` are the state of all n robots."""
        ...


class Drive(Channel, Protocol):
    """A channel from commands to controls, called once a physics step, that may depend on what came before."""

    @property
    def memory(self) -> int:
        """How many physics steps of the past its output depends on."""
        ...


@final
class Chain:
    """Channels one after the other."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        """Go through `channels` in their order."""
        self._channels = tuple(channels)

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Start a new episode in the m worlds `rows`; `first` (m, size) is what was there before it."""
        for channel in self._channels:
            channel.begin(first, fields, rng, rows)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """What comes out of `rows` when values (m, size) go in."""
        for channel in self._channels:
            values = channel(values, fields, rows)
        return values


@final
class PerWorld:
    """In every world a channel of its own, or none; `channels` may be exchanged before an episode begins."""

    def __init__(self, channels: Sequence[Channel | None]) -> None:
        """Take one channel a world, each made for a single one."""
        self.channels: list[Channel | None] = list(channels)
        self._worlds = np.arange(len(self.channels))
        self._of: Fields = {}
        self._single: dict[int, Fields] = {}

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Start a new episode in the m worlds `rows`; `first` (m, size) is what was there before it."""
        for row, world in enumerate(self._worlds[rows]):
            channel = self.channels[int(world)]
            if channel is not None:
                channel.begin(first[row : row + 1], self._fields(fields, world), rng, slice(None))

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """What comes out of `rows` when values (m, size) go in."""
        out = values.copy()
        for row, world in enumerate(self._worlds[rows]):
            channel = self.channels[int(world)]
            if channel is not None:
                out[row] = channel(values[row : row + 1], self._fields(fields, world), slice(None))[0]
        return out

    def _fields(self, fields: Fields, world: np.intp) -> Fields:
        """The fields of a single world. They are live views, so that making them once will do."""
        if fields is not self._of:
            self._of, self._single = fields, {}
        one = int(world)
        if one not in self._single:
            self._single[one] = {name: values[one : one + 1] for name, values in fields.items()}
        return self._single[one]


@final
class Delay:
    """Every value takes `steps` control steps, and with jitter up to `jitter` more, each as likely.

    What comes out is the newest value that has arrived: one that was overtaken has no effect any more.
    """

    def __init__(self, n: int, size: int, steps: int, jitter: int = 0) -> None:
        """Set up n worlds."""
        self._worlds = np.arange(n)
        self._steps, self._length = steps, steps + jitter + 1  # the oldest value that can still be the newest to arrive
        self._sent = np.zeros((n, self._length, size))  # a ring: what was sent at step t is in slot t % length
        self._due = np.zeros((n, self._length), np.int64)
        self._now = np.zeros(n, np.int64)
        self._extra = (
            Streams(n, 1, lambda rng, shape: rng.integers(jitter + 1, size=shape).astype(float)) if jitter else None
        )

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Until something arrives, `first` is what comes out."""
        self._sent[rows] = first[:, None]
        self._due[rows] = -1
        self._now[rows] = 0
        if self._extra is not None:
            self._extra.begin(rng, rows)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Send values (m, size) and take what has arrived."""
        worlds, now = self._worlds[rows], self._now[rows]
        slot = now % self._length
        self._sent[worlds, slot] = values
        self._due[worlds, slot] = now + self._steps
        if self._extra is not None:
            self._due[worlds, slot] += self._extra(rows)[:, 0].astype(np.int64)
        age = (now[:, None] - np.arange(self._length)) % self._length  # (m, length)
        newest = np.where(self._due[worlds] <= now[:, None], age, self._length).argmin(axis=1)
        self._now[worlds] = now + 1
        return self._sent[worlds, newest]


@final
class DeadBand:
    """A value must differ by more than `band` (size,) from the one in effect to take effect."""

    def __init__(self, n: int, band: Float) -> None:
        """Set up n worlds."""
        self._band = band
        self._held = np.zeros((n, len(band)))

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """`first` is in effect."""
        self._held[rows] = first

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """What is in effect now (m, size)."""
        held = self._held[rows]
        held = np.where(np.abs(values - held) > self._band, values, held)
        self._held[rows] = held
        return held


@final
class Backlash:
    """The play operator: what comes out stays where it is until a side of the play, `width` (size,) wide, pushes it."""

    def __init__(self, n: int, width: Float) -> None:
        """Set up n worlds."""
        self._half = width / 2
        self._at = np.zeros((n, len(width)))

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Start in the middle of the play."""
        self._at[rows] = first

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Where the driven side is now (m, size)."""
        moved = np.minimum(np.maximum(self._at[rows], values - self._half), values + self._half)
        self._at[rows] = moved
        return moved


@final
class Noise:
    """Gaussian noise of standard deviation `std` (size,) at every step.

    From one step to the next it is correlated, each value by its own number (size,) or all alike: 0 is independent in
    time, in between it varies slowly (an AR(1) process, stationary from the first step on), and 1 is constant for an
    episode.
    """

    def __init__(self, n: int, std: Float, correlation: Float | float = 0.0) -> None:
        """Set up n worlds."""
        self._std, self._correlation = std, correlation
        self._fresh = std * np.sqrt(1 - correlation**2)
        self._noise = np.zeros((n, len(std)))
        changes = np.less(correlation, 1).any()
        self._normal = Streams(n, len(std), lambda rng, shape: rng.standard_normal(shape)) if changes else None

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Draw the first noise."""
        self._noise[rows] = self._std * rng.standard_normal(first.shape)
        if self._normal is not None:
            self._normal.begin(rng, rows)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Values (m, size) and noise."""
        noise = self._noise[rows]
        if self._normal is not None:
            noise = self._correlation * noise + self._fresh * self._normal(rows)
            self._noise[rows] = noise
        return values + noise
