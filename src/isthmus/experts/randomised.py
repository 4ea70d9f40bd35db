"""Simulations whose dynamics differ from one another and from episode to episode (Peng 2017)."""

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Step
from isthmus.gaps import Gap, Ranges
from isthmus.sim import Fields, MujocoWorld, PerWorld
from isthmus.tasks import Task


class RandomisedWorlds:
    """n simulations of a task; each draws a gap of its own before every episode."""

    def __init__(self, task: Task, n: int, ranges: Ranges) -> None:
        """Set up n worlds; ranges that do not fit the robot are refused."""
        body = task.robot_model
        ranges.check(body.model)
        self.n: int = n
        self._body, self._ranges = body, ranges.on(body.model)
        self._pool = [(gap, gap.apply(body.model)) for gap in ranges.pool(body.model)]
        self._models = [body.model] * n
        self._actions, self._sensors = PerWorld([None] * n), PerWorld([None] * n)
        actions, sensors = task.linked(n, self._actions, self._sensors)
        self._world = MujocoWorld(body, n, models=self._models, actions=actions, sensors=sensors)

    @property
    def fields(self) -> Fields:
        """The live MuJoCo fields, for the reward."""
        return self._world.fields

    @property
    def models(self) -> list[mujoco.MjModel]:
        """The model of each world now."""
        return self._models

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Draw dynamics and start a new episode in the worlds `which` (all by default)."""
        self._draw(rng, np.ones(len(self._models), np.bool_) if which is None else which)
        return self._world.reset(rng, which)

    def step(self, commands: Float) -> Step:
        """Give commands (n, act) for one control period."""
        return self._world.step(commands)

    def drawn(self, rng: np.random.Generator) -> MujocoWorld:
        """The worlds with dynamics drawn once, which they keep."""
        self._draw(rng, np.ones(len(self._models), np.bool_))
        return self._world

    def _draw(self, rng: np.random.Generator, which: Bool) -> None:
        for world in np.flatnonzero(which):
            gap, self._models[world] = self._drawn(rng)
            self._actions.channels[world] = gap.action_channel(self._body.spec, 1)
            self._sensors.channels[world] = gap.sensor_channel(self._body.spec, 1, self._body)
        self._world.remodel(self._models)

    def _drawn(self, rng: np.random.Generator) -> tuple[Gap, mujoco.MjModel]:
        """A gap and the robot that has it: one of those there are, or a new one."""
        if self._pool:
            return self._pool[int(rng.integers(len(self._pool)))]
        gap = self._ranges.draw(rng)
        return gap, gap.apply(self._body.model)
