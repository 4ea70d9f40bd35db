"""How a network looks at sensors: without the task's own numbers, and along the heading of a floating base.

A robot moves alike wherever it heads. Its orientation and the velocities along the axes of the world are therefore
turned about the vertical, by as much as makes its latest heading zero, and what the network answers is turned back.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Float, Int
from isthmus.estimate.sensors import single_columns
from isthmus.sim import RobotModel
from isthmus.sim.anatomy import base_joints


@dataclass(frozen=True)
class Heading:
    """Where an observation has what turns with a floating base."""

    orientation: Int
    """The columns of its orientation (4,), w first."""
    pairs: Int
    """Those of vectors along the axes of the world, x and y (k, 2)."""

    @staticmethod
    def of(robot_model: RobotModel, sensed: Int) -> "Heading | None":
        """None for a robot without a floating base, on a slope, or whose orientation is not among the `sensed`."""
        model = robot_model.model
        free = [int(j) for j in base_joints(model) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE.value]
        if len(free) != 1 or (model.opt.gravity[:2] != 0).any():
            return None
        q, v = int(model.jnt_qposadr[free[0]]), int(model.jnt_dofadr[free[0]])
        positions, velocities = single_columns(robot_model)
        orientation = positions[q + 3 : q + 7]
        pairs = np.stack((positions[q : q + 2], velocities[v : v + 2]))
        known = pairs >= 0
        if not np.isin(orientation, sensed).all() or (known.any(axis=1) & ~known.all(axis=1)).any():
            return None
        return Heading(orientation, pairs[known.all(axis=1)])

    def to_zero(self, observations: Float) -> Float:
        """The angles (n,) about the vertical by which robots are turned so that their heading is zero."""
        w, x, y, z = (observations[:, int(column)] for column in self.orientation)
        angle = -np.arctan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)
        # The other half turn of the angle changes the sign of all four numbers, which mean the same.
        return np.where(np.cos(angle / 2) * w - np.sin(angle / 2) * z < 0, angle + 2 * np.pi, angle)

    def turned(self, observations: Float, angle: Float) -> Float:
        """Observations (n, ..., obs) turned about the vertical by `angle` (n,)."""
        found, angle = observations.copy(), angle.reshape(-1, *[1] * (observations.ndim - 2))
        half_cos, half_sin, cos, sin = np.cos(angle / 2), np.sin(angle / 2), np.cos(angle), np.sin(angle)
        w, x, y, z = np.moveaxis(observations[..., self.orientation], -1, 0)
        turned = half_cos * w - half_sin * z, half_cos * x - half_sin * y, half_cos * y + half_sin * x
        found[..., self.orientation] = np.stack((*turned, half_cos * z + half_sin * w), axis=-1)
        for first, second in self.pairs:
            along, across = observations[..., first], observations[..., second]
            found[..., first], found[..., second] = cos * along - sin * across, sin * along + cos * across
        return found


@dataclass(frozen=True)
class Frame:
    """How the sensors of one robot are looked at."""

    sensed: Int
    """Entries of the observation that are sensed (m,)."""
    size: int
    """Numbers of an observation."""
    looked_at: Int
    """Those among the sensed that tell of the robot (k,), by their place."""
    heading: Heading | None

    @staticmethod
    def of(robot_model: RobotModel, sensed: Int) -> "Frame":
        """The frame of a robot with these sensors."""
        spec = robot_model.spec
        own = np.flatnonzero(np.isin(sensed, spec.robot_dimensions)).astype(np.int64)
        return Frame(sensed, spec.observation_size, own, Heading.of(robot_model, sensed))

    def angle(self, latest: Float) -> Float:
        """By how much robots (n,) whose sensors show `latest` (n, m) are turned."""
        return np.zeros(len(latest)) if self.heading is None else self.heading.to_zero(self._whole(latest))

    def shown(self, values: Float, angle: Float) -> Float:
        """Values of the sensors (n, ..., m) as the network sees them."""
        return values if self.heading is None else self.turned(self._whole(values), angle)[..., self.sensed]

    def turned(self, observations: Float, angle: Float) -> Float:
        """Whole observations (n, ..., obs) turned by `angle` (n,)."""
        return observations if self.heading is None else self.heading.turned(observations, angle)

    def _whole(self, values: Float) -> Float:
        whole = np.zeros((*values.shape[:-1], self.size))
        whole[..., self.sensed] = values
        return whole
