"""One method on one robot: it learns on training swings, and is tried on test swings."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import Policy, stream
from isthmus.core.commit import EARLIER, current_commit
from isthmus.data import from_json, read_json
from isthmus.hardware import SafetySettings
from isthmus.methods import MethodSettings, make_method
from isthmus.ros import Address
from isthmus.studies.figure_5.pd import tune
from isthmus.studies.figure_5.settings import HISTORY, TASK, Settings
from isthmus.tasks import Task, load_task
from isthmus.tasks.fetch.task import SwingPolicy, at_start
from isthmus.transfer import Config, RunFolder, cross
from isthmus.transfer.events import Watcher
from isthmus.transfer.ros_target import RosTarget
from isthmus.transfer.source import make_source


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
        return from_json(Outcome, read_json(path), path, "a cell of figure 5", "; remove it to run it again")


def run_cell(
    robot: str, method: str, settings: Settings, address: Address, folder: RunFolder, watch: Watcher | None
) -> Outcome:
    """Run one cell on the stand-in that is at `address`."""
    task, notes = load_task(TASK), dict[str, Any]()
    policy: Policy
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
) -> tuple[Policy, int, int]:
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
    result = cross(config, folder, resume=True, watch=watch)
    learned = make_method(method, make_source(task, SwingPolicy(), config.seed), config.settings)
    learned.restore(folder.model_path(len(folder.rounds()) - 1))
    return learned.decider(), learned.history, result.samples
