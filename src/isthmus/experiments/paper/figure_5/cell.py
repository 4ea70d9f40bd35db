"""One method on one stand-in robot: it learns on training swings, and is tried on test swings."""

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.adapt import MethodSettings
from isthmus.core import AnyPolicy, stream
from isthmus.core.commit import EARLIER, current_commit
from isthmus.experiments.grid import Cell, Json
from isthmus.experiments.paper.figure_5.pd import tune
from isthmus.experiments.paper.figure_5.settings import HISTORY, LIMITS, TASK, Settings
from isthmus.hardware import SafetySettings
from isthmus.hardware.ros1 import Address
from isthmus.hardware.ros1.cord import WORLD, find_cord
from isthmus.hardware.ros1.processes import stand_in
from isthmus.report.cord import Tie, save_cord
from isthmus.robots import load_task
from isthmus.robots.fetch.arm import PREFIX
from isthmus.robots.fetch.task import SwingPolicy, at_start
from isthmus.tasks import Task
from isthmus.transfer import Config, Controller, RunFolder, load_adapted, run_transfer
from isthmus.transfer.targets.ros1 import RosTarget

FILMED = "preview"
"""The method whose arm is in the video."""


@dataclass(frozen=True)
class SwingResult:
    """The fields of a result."""

    distances: tuple[float, ...]
    """The mean normalised distance of each trial."""
    samples: int
    robot_minutes: float
    """Time spent on learning; the trials come on top."""
    clipped: dict[str, int]
    """How many commands each safety limit changed."""
    notes: dict[str, Any]
    commit: str = EARLIER

    def __post_init__(self) -> None:
        """Refuse numbers that no mean, ratio or sum can be shown of: they may come from a file."""
        if not self.distances or min(self.distances) <= 0:
            raise ValueError("distances must be one or more positive numbers")
        if missing := set(LIMITS) - self.clipped.keys():
            raise ValueError(f"clipped has no {min(missing)}")


def swing_cell(robot: str, method: str, settings: Settings, address: Address, speed: float) -> Cell[Json]:
    """A method on a stand-in robot, which is at most `speed` times as fast as real time."""
    others = ("folder", "robots", "methods")
    decisive = {name: value for name, value in asdict(settings).items() if name not in others}
    run = partial(_run_cell, robot, method, settings, address, speed)
    return Cell(f"{method} on the {robot} robot", f"{robot}-{method}", run, TASK, decisive, SwingResult)


def _run_cell(robot: str, method: str, settings: Settings, address: Address, speed: float, folder: Path) -> Json:
    """Switch the robot on, and run the method on it."""
    with stand_in(address, robot=robot, speed=speed):
        result = _run(method, settings, address, RunFolder(folder))
        if method == FILMED:
            _save_cord(address, folder)
    return result


def _run(method: str, settings: Settings, address: Address, folder: RunFolder) -> Json:
    """The distances of the trials, and what learning cost."""
    task, notes = load_task(TASK), Json()
    policy: AnyPolicy
    policy, history, samples, minutes = SwingPolicy(), 1, 0, 0.0
    if method not in ("pd", "unadapted"):
        adapted, samples = _adapted(method, settings, address, folder, task)
        policy, history = adapted.policy, adapted.history
        minutes = sum(part["pace"]["robot_seconds"] for part in folder.robot_parts()) / 60
    target = RosTarget(task, address, settings.trials, SafetySettings())
    try:
        if method == "pd":
            found = tune(
                lambda law, number: target.watched(law, 1, at_start(np.array([float(number)]))[0]),
                settings.stiffnesses,
                settings.dampings,
                settings.tuned_on,
            )
            minutes = target.facts()["pace"]["robot_seconds"] / 60
            policy = found.policy
            notes = {"kp": policy.stiffness.tolist(), "kd": policy.damping.tolist(), "tried": found.tried}
        before = target.facts()["clipped"]
        tried = [target.try_out(policy, history, start) for start in target.trials(stream(0, "trials"))]
        after = target.facts()["clipped"]
    finally:
        target.close()
    return {
        "distances": [float(-row.mean()) for row in tried],
        "samples": samples,
        "robot_minutes": minutes,
        "clipped": {kind: int(after[kind] - before[kind]) for kind in after},
        "notes": notes,
        "commit": current_commit(),
    }


def _adapted(
    method: str, settings: Settings, address: Address, folder: RunFolder, task: Task
) -> tuple[Controller, int]:
    """The adapted policy, and the samples it took."""
    config = Config(
        task=TASK,
        method=method,
        samples=settings.samples,
        round_samples=settings.samples // settings.rounds,
        evaluation_episodes=1,
        environment=str(address),
        settings=MethodSettings(history=HISTORY[method]),
    )
    result = run_transfer(config, folder, resume=True)
    return load_adapted(folder, task), result.samples


def _save_cord(address: Address, folder: Path) -> None:
    """Keep where the robot's cord is tied, for the video alone and after all is done."""
    ties = [Tie(one.link if one.link == WORLD else PREFIX + one.link, one.point) for one in find_cord(address)]
    if ties:
        save_cord(folder, (ties[0], ties[1]))
