"""Every world there is, by name, so that one contract can be put to all of them."""

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from isthmus.core import Float, Rows, World
from isthmus.gaps import Gap
from isthmus.robots import TASKS, load_task
from isthmus.sim import MujocoWorld, RobotModel, SealedRobot
from isthmus.tasks import Task

MakeWorld = Callable[..., World]
GAPS = {
    "tilted": "tilt=60",
    "late": "delay=2,sensor-delay=1",
    "noisy": (
        "delay=1,delay-jitter=2,dead-band=0.02,backlash=0.1,motor-noise=0.3,noise-correlation=0.9,"
        "sensor-delay=1,sensor-bias=0.02,sensor-noise=0.01"
    ),
    "off": "motor-noise=0.3,noise-correlation=1,sensor-bias=0.02",
}
SIMULATORS = (*sorted(TASKS), "reacher tilted")
DIRECT = (*SIMULATORS, "reacher tilted, as a robot")
"""Worlds in which a command goes straight to its actuator and a sensor says what is true."""
WORLDS = (
    *DIRECT,
    "half-cheetah late",
    "reacher noisy",
    "hopper noisy, as a robot",
    "half-cheetah off",
    "hopper noisy, estimated",
    "reacher late, estimated, as a robot",
)


class Smoother:
    """An estimator with a state: a moving average, which the last action moves on a little."""

    def __init__(self, n: int, size: int) -> None:
        self._state = np.zeros((n, size))

    def begin(self, sensed: Float, rows: Rows) -> Float:
        self._state[rows] = sensed
        return self._state[rows]

    def __call__(self, sensed: Float, applied: Float, rows: Rows) -> Float:
        moved = 0.7 * self._state[rows] + 0.3 * sensed + 0.01 * applied.sum(axis=1, keepdims=True)
        self._state[rows] = moved
        return moved


@cache
def task_of(name: str) -> Task:
    return load_task(name.partition(" ")[0])


@pytest.fixture(params=WORLDS)
def make_world(request: pytest.FixtureRequest) -> MakeWorld:
    return _maker(request.param)


@pytest.fixture(params=DIRECT)
def make_direct_world(request: pytest.FixtureRequest) -> MakeWorld:
    return _maker(request.param)


@pytest.fixture(params=SIMULATORS)
def make_simulator(request: pytest.FixtureRequest) -> MakeWorld:
    return _maker(request.param)


def _maker(name: str) -> MakeWorld:
    embodiment = task_of(name).robot_model
    gap = Gap.parse(next((text for word, text in GAPS.items() if word in name.replace(",", "").split()), "none"))
    models = gap.apply(embodiment.model) if gap.settings else None

    def make(n: int, threads: int | None = None) -> World:
        world = MujocoWorld(
            embodiment,
            n,
            models=models,
            actions=gap.action_channel(embodiment.spec, n),
            sensors=gap.sensor_channel(embodiment.spec, n),
            estimator=Smoother(n, embodiment.spec.observation_size) if "estimated" in name else None,
            threads=threads,
        )
        return SealedRobot(world) if "robot" in name else world

    return make


@pytest.fixture
def fragile(reacher: Task) -> RobotModel:
    """Reacher in a china shop: the episode is over when the first joint is past 0.5 rad."""
    return dataclasses.replace(reacher.robot_model, ended=lambda fields: fields["qpos"][:, 0] > 0.5)
