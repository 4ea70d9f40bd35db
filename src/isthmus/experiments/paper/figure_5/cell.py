"""One method on one robot: it learns on training swings, and is tried on test swings."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.adapt import MethodSettings, make_method
from isthmus.core import AnyPolicy, Problem, stream
from isthmus.core.commit import EARLIER, current_commit
from isthmus.experiments.paper.figure_5.pd import tune
from isthmus.experiments.paper.figure_5.settings import HISTORY, TASK, Settings
from isthmus.hardware import SafetySettings
from isthmus.hardware.ros1 import Address
from isthmus.io import read_json
from isthmus.robots import load_task
from isthmus.robots.fetch.task import SwingPolicy, at_start
from isthmus.tasks import Task
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.events import Watcher
from isthmus.transfer.source.source import make_source
from isthmus.transfer.targets.ros1 import RosTarget


@dataclass(frozen=True)
class Outcome:
    """What came of a cell."""

    robot: str
    method: str
    distances: tuple[float, ...]
    """Mean normalised distance of each trial."""
    samples: int
    """Steps that were learned from."""
    robot_minutes: float
    """Spent on learning, moves to the start and scores after each round included; the trials come on top."""
    clipped: dict[str, int]
    """Commands of the trials that the safety layer changed."""
    notes: dict[str, Any]
    commit: str = EARLIER
    """Of the code that made it."""

    @property
    def mean(self) -> float:
        """Over the trials."""
        return float(np.mean(self.distances))

    @property
    def std(self) -> float:
        """Over the trials."""
        return float(np.std(self.distances))

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @staticmethod
    def load(path: Path) -> "Outcome":
        """Read what came of a cell."""
        data = read_json(path)
        try:
            distances = tuple(float(one) for one in data.pop("distances"))
            return Outcome(distances=distances, **data)
        except (KeyError, TypeError, ValueError) as error:
            raise Problem(f"{path} is not a cell of figure 5 ({error}); remove it to run it again") from error


def run_cell(
    robot: str, method: str, settings: Settings, address: Address, folder: RunFolder, watch: Watcher | None
) -> Outcome:
    """Run one cell on the stand-in that is at `address`."""
    task, notes = load_task(TASK), dict[str, Any]()
    policy: AnyPolicy
    policy, history, samples, minutes = SwingPolicy(), 1, 0, 0.0
    if method not in ("pd", "unadapted"):
        policy, history, samples = _adapted(method, settings, address, folder, task, watch)
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
    clipped = {kind: int(after[kind] - before[kind]) for kind in after}
    return Outcome(
        robot, method, tuple(float(-row.mean()) for row in tried), samples, minutes, clipped, notes, current_commit()
    )


def _adapted(
    method: str, settings: Settings, address: Address, folder: RunFolder, task: Task, watch: Watcher | None
) -> tuple[AnyPolicy, int, int]:
    """The policy that a crossing comes to, how much history it wants, and the samples it took."""
    config = Config(
        task=TASK,
        method=method,
        samples=settings.samples,
        round_samples=settings.samples // settings.rounds,
        evaluation_episodes=1,
        environment=str(address),
        settings=MethodSettings(history=HISTORY[method]),
    )
    result = run_transfer(config, folder, resume=True, watch=watch)
    report = make_method(method, make_source(task, SwingPolicy(), config.seed), config.settings)
    report.restore(folder.model_path(len(folder.rounds()) - 1))
    return report.policy(), report.history, result.samples
