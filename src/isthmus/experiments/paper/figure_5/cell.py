"""One method on one stand-in robot: it learns on training swings, and is tried on test swings.

The baseline: PD in position control, whose targets are the simulator's own states.

    a_t = q*_{t+1} + kp (q*_t - q_t) + kd (v*_t - v_t)

q* and v* are the simulator's own swing. The gains are found on training swings: every pair of a grid is
tried with all joints alike, every joint takes the pair with which it did best itself, and where all of these together
do no better than the best common pair, that is kept.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.adapt import MethodSettings
from isthmus.core import AnyPolicy, Float, History, stream
from isthmus.core.commit import EARLIER, current_commit
from isthmus.experiments.grid import Cell, Json
from isthmus.experiments.paper.figure_5.settings import HISTORY, LIMITS, TASK, Settings
from isthmus.hardware import SafetySettings
from isthmus.hardware.processes import stand_in
from isthmus.hardware.ros1 import Address
from isthmus.hardware.ros1.cord import WORLD, find_cord
from isthmus.report.cord import Tie, save_cord
from isthmus.robots import load_task
from isthmus.robots.fetch.arm import PREFIX
from isthmus.robots.fetch.task import ARM, CLOCK, SWING, SwingPolicy, at_start, on_reference
from isthmus.tasks import Task
from isthmus.transfer import Config, Controller, RunFolder, load_adapted, run_transfer
from isthmus.transfer.targets.robot import RobotTarget

Trial = Callable[["SwingPd", int], Float]
"""Runs a policy on the swing of that number; what is seen after each step (T, obs)."""


@dataclass(frozen=True)
class SwingPd:
    """Gains of each joint (7,)."""

    stiffness: Float
    damping: Float

    def __call__(self, history: History) -> Float:
        """Commands (n, 7)."""
        now = history.current
        positions, speeds, _ = on_reference(now[:, SWING], now[:, CLOCK])
        target, _, _ = on_reference(now[:, SWING], now[:, CLOCK], ahead=1)
        back = self.stiffness * (positions - now[:, :ARM]) + self.damping * (speeds - now[:, ARM : 2 * ARM])
        return target + back


@dataclass(frozen=True)
class Tuned:
    """The gains, and what was tried."""

    policy: SwingPd
    tried: tuple[tuple[float, float, float], ...]
    """Each common pair, and the distance with it."""


def tune(trial: Trial, stiffnesses: tuple[float, ...], dampings: tuple[float, ...], swings: tuple[int, ...]) -> Tuned:
    """Find gains within the grid on `swings`."""
    tried: list[tuple[float, float, float]] = []
    squares: list[Float] = []
    for stiffness, damping in product(stiffnesses, dampings):
        distance, square = _judge(trial, SwingPd(np.full(ARM, stiffness), np.full(ARM, damping)), swings)
        tried.append((stiffness, damping, distance))
        squares.append(square)
    best: list[int] = np.stack(squares).argmin(axis=0).tolist()  # (7,)
    each = SwingPd(np.array([tried[i][0] for i in best]), np.array([tried[i][1] for i in best]))
    common = min(tried, key=lambda row: row[2])
    if _judge(trial, each, swings)[0] < common[2]:
        return Tuned(each, tuple(tried))
    return Tuned(SwingPd(np.full(ARM, common[0]), np.full(ARM, common[1])), tuple(tried))


def _judge(trial: Trial, policy: SwingPd, swings: tuple[int, ...]) -> tuple[float, Float]:
    """Mean normalised distance, and every joint's mean squared error (7,)."""
    distances, squares = list[float](), list[Float]()
    for number in swings:
        seen = trial(policy, number)
        positions, _, diameter = on_reference(seen[:, SWING], seen[:, CLOCK])
        errors = seen[:, :ARM] - positions
        distances.append(float((np.linalg.norm(errors, axis=1) / diameter).mean()))
        squares.append(np.square(errors).mean(axis=0))
    return float(np.mean(distances)), np.mean(squares, axis=0)


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
    target = RobotTarget(task, address, settings.trials, SafetySettings())
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
