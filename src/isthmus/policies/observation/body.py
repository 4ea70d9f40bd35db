"""What the terms of an observation spec are computed from: a robot's state, by the names of its joints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.core import Float, Int, Problem, WorldSpec, unknown_name


@dataclass(frozen=True)
class Body:
    """A robot as a policy from elsewhere knows it."""

    spec: WorldSpec
    state: Callable[[Float], tuple[Float, Float]]
    """From observations (n, obs) to positions (n, nq) and velocities (n, nv)."""
    joints: Mapping[str, tuple[int, int]]
    """Of every hinge and slide of the robot by name: where its position is, and where its velocity."""
    actuators: Mapping[str, int]
    """Which action drives a joint, by the joint's name and by the actuator's."""
    base: tuple[int, int] | None
    """Where the position and the velocity of the free base begin; None for a robot that is not free."""
    poses: Mapping[str, Float]
    """Positions (nq,) that have a name: `reference`, `start`, and the model's keyframes."""

    @property
    def driven(self) -> tuple[str, ...]:
        """The joints that actions drive, in the order of the actions."""
        by_action = {action: joint for joint, action in self.actuators.items() if joint in self.joints}
        return tuple(by_action[action] for action in sorted(by_action))

    def check_joints(self, names: Sequence[str], where: str) -> None:
        """Refuse a joint that the robot does not have, or that is named twice."""
        for name in names:
            if name not in self.joints:
                raise unknown_name(f"joint in {where}:", name, self.joints)
        if twice := [name for name in names if names.count(name) > 1]:
            raise Problem(f"the joint {twice[0]!r} is named twice in {where}: name each joint once")

    def columns(self, names: Sequence[str]) -> tuple[Int, Int]:
        """Where positions and velocities of joints are, each (j,)."""
        places = np.array([self.joints[name] for name in names], np.int64).reshape(-1, 2)
        return places[:, 0], places[:, 1]

    def pose(self, name: str, joints: Sequence[str]) -> Float:
        """Joint angles (j,) of a pose that has a name; `middle` is that of the actuators' ranges."""
        if name == "middle":
            return np.array(
                [self.spec.middle[self.actuators[joint]] if joint in self.actuators else 0.0 for joint in joints]
            )
        if name not in self.poses:
            raise unknown_name("pose", name, [*self.poses, "middle"])
        return self.poses[name][self.columns(joints)[0]]


def into_frame(turn: Float, vectors: Float) -> Float:
    """Vectors of the world, (n, 3) or (3,), in frames whose orientations are `turn` (n, 4), w first."""
    unit = turn / np.maximum(np.linalg.norm(turn, axis=1, keepdims=True), 1e-9)
    w, axis = unit[:, :1], -unit[:, 1:]
    vectors = np.broadcast_to(vectors, axis.shape)
    across = 2 * np.cross(axis, vectors)
    return vectors + w * across + np.cross(axis, across)


def out_of_frame(turn: Float, vectors: Float) -> Float:
    """Vectors (n, 3) of frames whose orientations are `turn` (n, 4), w first, in the world."""
    return into_frame(turn * np.array([1.0, -1.0, -1.0, -1.0]), vectors)
