"""From minutes of the stand-in's motion to models of its drives, and how far each is from the measured torque."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.actuators import Actuator, ActuatorLog, joined
from isthmus.actuators.fit.laws import fit_pd, ideal_pd
from isthmus.actuators.fit.networks import NetworkSettings, fit_linear, fit_mlp
from isthmus.actuators.predict import predicted, rmse
from isthmus.core import Float, stream
from isthmus.experiments.anymal.excitation import sines, steps
from isthmus.robots.anymal.model import DAMPING, EFFORT, JOINTS, STIFFNESS, TIMESTEP
from isthmus.robots.anymal.remote import RemoteAnymals
from isthmus.robots.anymal.task import FRAME_SKIP

PAPER_LAGS = (0, 4, 8)
"""0, 10 and 20 ms, as in the paper."""
DENSE_LAGS = (0, 1, 2, 3, 4, 6, 8, 10, 12)
BLOCK = 2.0
"""Seconds of a block for which an error is told apart."""


@dataclass(frozen=True)
class Collection:
    """How much data is collected."""

    runs: int = 16
    """Robots, or runs of one robot after each other."""
    seconds: float = 7.0
    """Of each kind of motion in a run."""
    hung: int = 3
    """Runs in which the robot hangs in the air."""
    test_runs: int = 8
    test_seconds: float = 6.0
    rows: int = 400_000
    epochs: int = 24

    @property
    def collected(self) -> float:
        """Seconds of motion that models are fitted to."""
        return self.runs * 2 * self.seconds


def collect(robot: str, collection: Collection, seed: int) -> tuple[ActuatorLog, ActuatorLog, ActuatorLog]:
    """Motion to fit to and to validate on (of the same runs' last fifth), and a sweep that is held out."""
    rng = stream(seed, "anymal", "excitation")
    n, held = collection.runs, collection.test_runs
    with RemoteAnymals(robot, n, seed) as robots:
        hung = np.arange(n) < collection.hung
        parts = [make(n, collection.seconds, rng) for make in (sines, steps)]
        logs = [as_log(part, robots.play(part, hung), name) for part, name in zip(parts, ("sine", "step"), strict=True)]
    with RemoteAnymals(robot, held, seed + 1) as robots:
        targets = sines(held, collection.test_seconds, rng)
        sweep = as_log(targets, robots.play(targets, np.arange(held) < 1), "sweep")
    blocks = [block for log in logs for block in log.blocks(BLOCK)]
    checked = [block for number, block in enumerate(blocks) if number % 6 == 5]
    fitted = [block for number, block in enumerate(blocks) if number % 6 != 5]
    return joined(fitted), joined(checked), sweep


def as_log(targets: Float, played: dict[str, Float], name: str) -> ActuatorLog:
    """What was played to n robots (T, n, 12) as a log, with a segment for each run and after each fall."""
    count, n, _ = targets.shape
    fresh = played["fresh"].T.ravel() > 0
    fresh[np.arange(n) * count] = True
    lines: dict[str, Any] = {
        key: np.swapaxes(value, 0, 1).reshape(count * n, -1)
        for key, value in (("target", targets), *((key, played[key]) for key in ("position", "velocity", "torque")))
    }
    starts = tuple(int(row) for row in np.flatnonzero(fresh))
    return ActuatorLog(
        dt=TIMESTEP,
        joints=JOINTS,
        **lines,
        starts=starts,
        names=tuple(name for _ in starts),
        kp=np.full(len(JOINTS), STIFFNESS),
        kd=np.full(len(JOINTS), DAMPING),
    )


def gait_log(steps: Sequence[dict[str, Float]], seconds: float = 8.0, robots: int = 12) -> ActuatorLog:
    """What the joints of some robots measured in a walk under a policy's own targets, up to their falls."""
    rows = steps[: round(seconds / (TIMESTEP * FRAME_SKIP))]
    few = [round(one * (len(rows[0]["targets"]) - 1) / (robots - 1)) for one in range(robots)]
    targets = np.repeat(np.stack([row["targets"][few] for row in rows]), FRAME_SKIP, axis=0)  # (T, robots, 12)
    played = {key: np.concatenate([row[key][:, few] for row in rows]) for key in ("position", "velocity", "torque")}
    fell = np.repeat(np.stack([row["ended"][few] for row in rows]), FRAME_SKIP, axis=0)
    logs: list[ActuatorLog] = []
    for robot in range(len(few)):
        until = int(np.argmax(fell[:, robot] > 0)) or len(fell)
        mine = slice(robot, robot + 1)
        cut = {key: value[:until, mine] for key, value in played.items()} | {"fresh": np.zeros((until, 1))}
        logs.append(as_log(targets[:until, mine], cut, "gait"))
    return joined(logs)


def fit_drives(
    fitted: ActuatorLog, checked: ActuatorLog, collection: Collection, seed: int, report: Callable[[str, float], None]
) -> dict[str, Actuator]:
    """Every model, by name."""
    effort = np.full(len(JOINTS), EFFORT)
    settings = NetworkSettings(rows=collection.rows, epochs=collection.epochs, seed=seed)
    return {
        "ideal": ideal_pd(fitted, effort),
        "fitted PD": fit_pd(fitted, effort),
        "linear": fit_linear(fitted, DENSE_LAGS, effort),
        "MLP, paper's lags": fit_mlp(fitted, checked, PAPER_LAGS, settings, effort_limit=effort, report=report),
        "MLP, dense lags": fit_mlp(fitted, checked, DENSE_LAGS, settings, effort_limit=effort, report=report),
    }


def errors(models: dict[str, Actuator], log: ActuatorLog) -> dict[str, dict[str, float]]:
    """Root mean square error of each model along `log` in N m, with the least and the largest of its blocks."""
    found: dict[str, dict[str, float]] = {}
    torque = np.asarray(log.torque)
    for name, model in models.items():
        wrong = predicted(model, log) - torque
        blocks = [rmse(predicted(model, block) - np.asarray(block.torque)) for block in log.blocks(BLOCK)]
        found[name] = {"rmse": rmse(wrong), "least": min(blocks), "most": max(blocks)}
    ideal = found["ideal"]["rmse"]
    return {name: {**one, "ratio": one["rmse"] / ideal} for name, one in found.items()}
