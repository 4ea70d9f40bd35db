"""Many simulated ANYmals that learn to walk: 30 inertial models, random pushes, episodes that begin anew."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from isthmus.core import Bool, Float, stream
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.task import make_anymal, see_walk
from isthmus.sim import MujocoWorld, RobotModel

SCALE = 0.3
"""Joint angle, in rad, of a policy's output of 1: it is added to the trot."""
FASTEST_PUSH = 0.6
"""Largest change of the base's speed by a push, along each axis, in m/s."""
PUSHED_EVERY = 200
"""Steps between pushes of a robot, on average."""
LONGEST = 500
"""Steps of a training episode."""
ROUGHNESS = 0.01
"""Price on the squared change of the policy's outputs from step to step."""
FALL = 3.0
"""Price of a fall."""


@dataclass(frozen=True)
class Taken:
    """One step of n robots."""

    seen: Float
    """What the policy sees then (n, 48)."""
    reward: Float
    fell: Bool
    out_of_time: Bool
    last_seen: Float
    """What it saw at the end of the step, before robots began anew (n, 48)."""


class Walks:
    """n robots in training."""

    def __init__(self, robot: RobotModel, n: int, models: Sequence[mujoco.MjModel]) -> None:
        """Set up n robots with the inertial `models` in turn."""
        self._task = make_anymal()
        turns = [models[row % len(models)] for row in range(n)]
        self._world = MujocoWorld(robot, n, models=turns, threads=1)
        self._rng = stream(0, "walks")
        self._age, self._last = np.zeros(n, np.int64), np.zeros((n, len(STANCE)))

    @property
    def world(self) -> MujocoWorld:
        """The simulation."""
        return self._world

    def begin(self, rng: np.random.Generator) -> Float:
        """Start all robots anew, at ages of their own, so that they do not all begin again at once."""
        self._rng = rng
        seen = self._world.reset(rng)
        self._age[:] = rng.integers(0, LONGEST, self._world.n)
        self._last[:] = 0.0
        return see_walk(seen)

    def step(self, outputs: Float, seen: Float) -> Taken:
        """Take one control step; `seen` (n, 48) is what the outputs (n, 12) were made from."""
        world, task = self._world, self._task
        before = task.measure(world.fields).copy()
        commands = act(outputs, seen)
        step = world.step(commands)
        after = task.measure(world.fields)
        rough = np.square(outputs - self._last).sum(axis=1)
        reward = task.step_reward(before, commands, after) - ROUGHNESS * rough - FALL * step.ended
        self._age += 1
        self._last[:] = outputs
        out_of_time = (self._age >= LONGEST) & ~step.ended
        last_seen = now = see_walk(step.observations)
        self._push(~step.ended)
        over = step.ended | out_of_time
        if over.any():
            now = see_walk(world.reset(self._rng, over))
            self._age[over], self._last[over] = 0, 0.0
        return Taken(now, reward, step.ended, out_of_time, last_seen)

    def _push(self, standing: Bool) -> None:
        pushed = standing & (self._rng.random(len(standing)) < 1 / PUSHED_EVERY)
        kicks = self._rng.uniform(-FASTEST_PUSH, FASTEST_PUSH, (int(pushed.sum()), 2))
        self._world.fields["qvel"][pushed, :2] += kicks


def act(outputs: Float, seen: Float) -> Float:
    """Joint targets (n, 12): the trot, which is the last part of what is seen, and what the policy adds to it."""
    return STANCE + seen[:, -len(STANCE) :] + SCALE * outputs
