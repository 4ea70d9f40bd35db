"""Channels between what is true and what is observed: calibration, mounting, resolution and loss of sensors."""

from typing import final

import numpy as np

from isthmus.core import Float, Int, Rows
from isthmus.gaps.observed import ImuColumns
from isthmus.sim.robot_model import Fields
from isthmus.sim.row_streams import Streams


@final
class ScaleError:
    """Multiplies every value by a factor of its own, 1 + error, which is drawn once an episode.

    The errors are normal with standard deviation `std` (size,).
    """

    def __init__(self, n: int, std: Float) -> None:
        """Set up n worlds."""
        self._std = std
        self._factor = np.ones((n, len(std)))

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Draw the factors of the episode."""
        self._factor[rows] = 1 + self._std * rng.standard_normal(first.shape)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Values (m, size) times their factors."""
        return values * self._factor[rows]


@final
class Quantisation:
    """Rounds the values `columns` to multiples of `step`."""

    def __init__(self, step: float, columns: Int) -> None:
        """Round to `step`."""
        self._step, self._columns = step, columns

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Nothing is kept."""

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Rounded values (m, size)."""
        rounded = values.copy()
        rounded[:, self._columns] = self._step * np.round(values[:, self._columns] / self._step)
        return rounded


@final
class Dropout:
    """Loses all of `columns` at once with a probability, independently at every step; the last reading is then held.

    The first reading of an episode always arrives.
    """

    def __init__(self, n: int, size: int, probability: float, columns: Int) -> None:
        """Set up n worlds."""
        self._probability, self._columns = probability, columns
        self._held = np.zeros((n, size))
        self._begun = np.zeros(n, np.bool_)
        self._uniform = Streams(n, 1, lambda rng, shape: rng.random(shape))

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Nothing has arrived yet."""
        self._begun[rows] = False
        self._uniform.begin(rng, rows)

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """The readings (m, size) that arrived last."""
        lost = (self._uniform(rows)[:, 0] < self._probability) & self._begun[rows]
        seen = values.copy()
        seen[np.ix_(lost, self._columns)] = self._held[rows][np.ix_(lost, self._columns)]
        self._held[rows], self._begun[rows] = seen, True
        return seen


@final
class Hidden:
    """Shows the same numbers in `columns` all the time."""

    def __init__(self, columns: Int, shown: Float) -> None:
        """Show `shown` (len(columns),)."""
        self._columns, self._shown = columns, shown

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Nothing is kept."""

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Values (m, size) without what is hidden."""
        seen = values.copy()
        seen[:, self._columns] = self._shown
        return seen


@final
class Misalignment:
    """An IMU that is rotated against the base and taken for aligned.

    With v_base = R v_sensor, it shows R^T v for the vectors that it measures in its own frame, and the orientation
    of its own frame, q * q_R.
    """

    def __init__(self, imu: ImuColumns, roll: float, pitch: float, yaw: float) -> None:
        """Turn by yaw, pitch and roll, in degrees, about the axes z, y and x, in that order from the base."""
        self._imu = imu
        self._turn = _product(_product(_about(2, yaw), _about(1, pitch)), _about(0, roll))
        self._rotation = rotation_matrix(self._turn)

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:
        """Nothing is kept."""

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """What the IMU shows in place of values (m, size)."""
        seen = values.copy()
        for columns in self._imu.vectors:
            seen[:, columns] = values[:, columns] @ self._rotation  # R^T v, row by row
        for columns in self._imu.orientations:
            seen[:, columns] = _product(values[:, columns], self._turn)
        return seen


def rotation_matrix(turn: Float) -> Float:
    """The matrix (3, 3) of a unit quaternion (4,), w first."""
    w, x, y, z = turn
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _about(axis: int, degrees: float) -> Float:
    half = np.deg2rad(degrees) / 2
    turn = np.array([np.cos(half), 0.0, 0.0, 0.0])
    turn[1 + axis] = np.sin(half)
    return turn


def _product(left: Float, right: Float) -> Float:
    """The product of quaternions (..., 4) and (4,), w first."""
    w, v = left[..., :1], left[..., 1:]
    real = w * right[0] - (v * right[1:]).sum(axis=-1, keepdims=True)
    return np.concatenate([real, w * right[1:] + right[0] * v + np.cross(v, right[1:])], axis=-1)
