"""Train one walking policy, with one model of the drives, from one seed; a training that was killed goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from isthmus.actuators import Actuator, equip
from isthmus.core import stream
from isthmus.experiments.anymal.learner import Learner, Settings
from isthmus.experiments.anymal.walks import Walks
from isthmus.policies import NetworkPolicy
from isthmus.robots.anymal.inertias import inertial_models
from isthmus.robots.anymal.task import make_anymal, see_walk
from isthmus.sim import RobotModel

MODELS = 30
"""Inertial models that a policy is trained on, as in the paper."""


def driven_robot(actuator: Actuator | None) -> RobotModel:
    """The robot with drives as `actuator` has them, or with ideal ones."""
    robot = make_anymal().robot_model
    return robot if actuator is None else equip(robot, actuator)


def train(
    actuator: Actuator | None, settings: Settings, seed: int, folder: Path, watch: Callable[[int, Any], None]
) -> NetworkPolicy:
    """The policy after all stages, which is also in `folder` as policy.npz; stages that are there are not repeated."""
    torch.set_num_threads(1)
    kept, written = folder / "training.npz", folder / "policy.npz"
    robot, task = driven_robot(actuator), make_anymal()
    learner = Learner(task.view.size, settings, seed)
    if kept.exists():
        learner.load(kept)
    if learner.stage < settings.stages:
        models = inertial_models(robot.model, MODELS, stream(seed, "anymal", "inertias"))
        walks = Walks(robot, settings.robots, models)
        while learner.stage < settings.stages:
            means = learner.run_stage(walks)
            learner.save(kept)
            watch(learner.stage, means)
    policy = NetworkPolicy(learner.network(), see_walk)
    policy.save(written)
    return policy
