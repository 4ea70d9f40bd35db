"""The series-elastic drives of n robots, in C: a channel from targets to joint torques, once a physics step."""

import ctypes
from dataclasses import astuple
from pathlib import Path
from typing import final

import numpy as np

from isthmus.core import Float, Int, Rows
from isthmus.io.native import Library, load
from isthmus.robots.anymal.standin.parameters import Drive
from isthmus.sim import Fields

STEP = 0.0005
"""Of the drives' own loops, in s."""
SOURCE = Library("anymal-drive", (Path(__file__).parent / "drive.c",))


@final
class SeriesElasticDrives:
    """The drives of n robots."""

    def __init__(self, n: int, drive: Drive, delay: float, period: float, *, joints: tuple[int, int] = (7, 6)) -> None:
        """Set up n robots whose physics is stepped every `period` seconds; `joints` begin there in qpos and qvel."""
        self._numbers = np.ascontiguousarray(np.stack(astuple(drive), axis=1))  # (joints, numbers)
        self._joints, self._steps = len(self._numbers), round(period / STEP)
        self._places = joints
        self._state = np.zeros((n, self._joints, 3))
        self._late = np.zeros((n, round(delay / STEP) + 1, self._joints))
        self._slot = np.zeros(n, np.int64)
        self._rows = np.arange(n)
        self._code = load(SOURCE).drive_step
        self._code.argtypes = [ctypes.c_int64, ctypes.c_void_p, *([ctypes.c_int64] * 3), ctypes.c_double] + [
            ctypes.c_void_p
        ] * 9
        self._code.restype = None
        self.torque = np.zeros((n, self._joints))
        """Of the springs at this moment (n, joints)."""
        self.recorded: list[tuple[Float, Float, Float]] | None = None
        """Angles, speeds and torques of every physics step, each (m, joints), where they are wanted."""

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:  # noqa: ARG002
        """Start with motors at rest, springs relaxed, and the joints' own angles as targets."""
        angles = self._of(fields["qpos"], self._places[0])[rows]
        self._state[rows] = 0.0
        self._state[rows, :, 0] = angles
        self._late[rows] = angles[:, None]
        self.torque[rows] = 0.0

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """Mean torques (m, joints) over the next physics step under targets (m, joints)."""
        worlds: Int = np.ascontiguousarray(self._rows[rows])
        angles = np.ascontiguousarray(self._of(fields["qpos"], self._places[0])[rows])
        speeds = np.ascontiguousarray(self._of(fields["qvel"], self._places[1])[rows])
        targets = np.ascontiguousarray(values, dtype=np.float64)
        mean, last = np.empty_like(angles), np.empty_like(angles)
        self._code(
            *(len(worlds), worlds.ctypes.data, self._joints, self._late.shape[1], self._steps, STEP),
            *(array.ctypes.data for array in (self._numbers, targets, angles, speeds, self._state, self._late)),
            *(array.ctypes.data for array in (self._slot, mean, last)),
        )
        if self.recorded is not None:
            self.recorded.append((angles, speeds, self.torque[rows].copy()))
        self.torque[rows] = last
        return mean

    def _of(self, field: Float, begin: int) -> Float:
        return field[:, begin : begin + self._joints]
