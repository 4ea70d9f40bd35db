"""A task: a robot, and how its runs are scored."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float
from isthmus.gaps import Gap
from isthmus.worlds import Embodiment, Fields, MujocoWorld, Robot


def whole_observation(observations: Float) -> Float:
    """A policy sees what the robot measures."""
    return observations


@dataclass(frozen=True)
class Task:
    """Everything that is particular to one robot, in one value.

    Only evaluation and expert training may use `measure`, `reward` and `score`; adaptation cannot import tasks at all.
    """

    name: str
    gym_id: str
    """Gymnasium's environment with the same physics and reward."""
    embodiment: Embodiment
    measure: Callable[[Fields], Float]
    """What a score is made of, read from the simulation (n, m)."""
    reward: Callable[[Float, Float, Float], Float]
    """Gym's own reward from the measures before, the commands and the measures after, each (n, ...) -> (n,)."""
    score: Callable[[Float, Float, Float], Float]
    """The same without its torque penalty: what results are reported in."""
    camera: dict[str, tuple[float, ...]]
    """Where pictures are taken from: lookat, distance, azimuth, elevation."""
    view: Callable[[Float], Float] = whole_observation
    """What Gymnasium's environment shows a policy of an observation (n, obs)."""

    @property
    def view_size(self) -> int:
        """How many numbers a policy sees."""
        return self.view(np.zeros((1, self.embodiment.spec.observation_size))).shape[1]

    def source(self, n: int = 1) -> MujocoWorld:
        """The simulator that the policy was made in."""
        return MujocoWorld(self.embodiment, n)

    def target(self, gap: Gap, n: int = 1) -> MujocoWorld:
        """The same robot on the other side of a gap."""
        return MujocoWorld(self.embodiment, n, models=gap.apply(self.embodiment.model))

    def robot(self, gap: Gap, n: int = 1) -> Robot:
        """The target as adaptation gets it."""
        return Robot(self.target(gap, n))
