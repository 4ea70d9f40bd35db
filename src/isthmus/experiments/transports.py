"""The same crossing by ROS 1 and by ROS 2: whether it matters by which of them a robot is reached.

Every cell switches on a stand-in Fetch of its own, adapts the swing to it, and tries the adapted and the unadapted
policy on all test swings. Cells of one seed have the same robot, the same jitter on the wire and the same exploration.
"""

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from isthmus.core import AnyPolicy, Float, Problem, stream
from isthmus.core.commit import current_commit
from isthmus.core.statistics import standard_error
from isthmus.experiments.drawing import ADAPTED, UNADAPTED, Figure, save_drawing
from isthmus.experiments.grid import Cell, Json, Watch, run_grid
from isthmus.experiments.store import CellFiles
from isthmus.hardware import SafetySettings
from isthmus.hardware.address import RobotAddress
from isthmus.hardware.processes import Transport, free_address, ros_master, stand_in
from isthmus.robots import load_task
from isthmus.robots.fetch.task import SwingPolicy
from isthmus.transfer import Config, RunFolder, load_adapted, run_transfer
from isthmus.transfer.targets.robot import RobotTarget

TASK = "fetch-swing"
TRANSPORTS: tuple[Transport, ...] = ("ros1", "ros2")
POLICIES = ("unadapted", "adapted")


@dataclass(frozen=True)
class Plan:
    """What decides the figures."""

    seeds: int = 3
    samples: int = 600
    trials: int = 10
    """Test swings, one trial each."""
    speed: float = 2.0
    """How many times as fast as real time the stand-ins go, at most."""
    method: str = "preview"
    robot: str = "first"

    def __post_init__(self) -> None:
        """Refuse a plan in which nothing is tried."""
        if min(self.seeds, self.trials) < 1 or self.samples < 60 or not 0 < self.speed < 1e3:
            raise Problem("a comparison needs a seed, a trial, 60 samples at least, and a speed above zero")


def compare_transports(plan: Plan, out: Path, *, watch: Watch[Json]) -> Json:
    """Run the cells that are not stored, and sum them up."""
    with ExitStack() as stack:
        addresses = {transport: free_address(transport) for transport in TRANSPORTS}
        cells = {
            (transport, seed): _cell(plan, transport, seed, addresses[transport])
            for seed in range(plan.seeds)
            for transport in TRANSPORTS
        }
        store = CellFiles(out, keep_runs=False)
        if any(store.load(cell) is None for cell in cells.values()):
            stack.enter_context(ros_master(addresses["ros1"]))
        found = run_grid(list(cells.values()), store, watch, workers=1)
    return summary(plan, {key: found[cell.file] for key, cell in cells.items()})


def _cell(plan: Plan, transport: Transport, seed: int, address: RobotAddress) -> Cell[Json]:
    decisive = {name: value for name, value in asdict(plan).items() if name != "seeds"}
    run = partial(_run, plan, seed, address)
    return Cell(f"{transport}, seed {seed}", f"{transport}-{seed}", run, TASK, decisive)


def _run(plan: Plan, seed: int, address: RobotAddress, folder: Path) -> Json:
    """The distances from the simulator's own swings, in every trial."""
    task = load_task(TASK)
    # A run that was interrupted was at another address: it begins anew.
    config = Config(
        task=TASK,
        method=plan.method,
        samples=plan.samples,
        round_samples=plan.samples,
        evaluation_episodes=1,
        environment=str(address),
        seed=seed,
    )
    with stand_in(address, robot=plan.robot, speed=plan.speed, seed=seed):
        own = folder.with_name(f"{folder.name}-{random.SystemRandom().randrange(10**9)}")
        run_transfer(config, RunFolder(own), traces=False)
        adapted = load_adapted(RunFolder(own), task)
        target = RobotTarget(task, address, plan.trials, SafetySettings())
        try:
            found = {
                "unadapted": _tried(target, SwingPolicy(), 1),
                "adapted": _tried(target, adapted.policy, adapted.history),
            }
            facts = target.facts()
        finally:
            target.close()
    return {**found, "facts": facts, "commit": current_commit(), "text": f"{np.mean(found['adapted']):.4f}"}


def _tried(target: RobotTarget, policy: AnyPolicy, history: int) -> list[float]:
    starts = target.trials(stream(0, "trials"))
    return [float(-target.try_out(policy, history, start).mean()) for start in starts]


def summary(plan: Plan, found: Mapping[tuple[str, int], Json]) -> Json:
    """Mean distances of each seed, their mean and standard deviation, and the difference between the transports."""
    seeds = range(plan.seeds)
    means: dict[str, dict[str, Float]] = {
        transport: {policy: np.array([_mean(found[transport, seed], policy) for seed in seeds]) for policy in POLICIES}
        for transport in TRANSPORTS
    }
    return {
        "plan": asdict(plan),
        "metric": "mean distance from the simulator's own swing, as a share of that swing's diameter",
        "commit": sorted({one["commit"] for one in found.values()}),
        "transports": {
            transport: {policy: _spread(values) for policy, values in by_policy.items()}
            for transport, by_policy in means.items()
        },
        "ros2_minus_ros1": {policy: _difference(means["ros2"][policy] - means["ros1"][policy]) for policy in POLICIES},
        "cells": [{"transport": transport, "seed": seed, **one} for (transport, seed), one in found.items()],
    }


def _mean(cell: Json, policy: str) -> float:
    distances: list[float] = cell[policy]
    return float(np.mean(distances))


def _spread(values: Float) -> Json:
    return {
        "seeds": values.tolist(),
        "mean": float(values.mean()),
        "std": float(values.std(ddof=1)) if len(values) > 1 else None,
    }


def _difference(values: Float) -> Json:
    """Paired by seed."""
    return {
        "seeds": values.tolist(),
        "mean": float(values.mean()),
        "standard_error": float(standard_error(values)) if len(values) > 1 else None,
    }


def rows(data: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A line for each transport, and one for the difference."""
    lines = [
        (transport, *(_plus_minus(by_policy[policy], "std") for policy in POLICIES))
        for transport, by_policy in data["transports"].items()
    ]
    apart = data["ros2_minus_ros1"]
    return [*lines, ("difference", *(_plus_minus(apart[policy], "standard_error") for policy in POLICIES))]


def _plus_minus(of: Mapping[str, Any], spread: str) -> str:
    around = "" if of[spread] is None else f" +/- {100 * of[spread]:.2f}"
    return f"{100 * of['mean']:.2f} %{around}"


def plot_transports(data: Mapping[str, Any], path: Path) -> None:
    """Every seed by both transports, joined."""
    figure = Figure(figsize=(5.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for policy, colour in zip(POLICIES, (UNADAPTED, ADAPTED), strict=True):
        shares = np.array([data["transports"][transport][policy]["seeds"] for transport in TRANSPORTS])
        axes.plot(TRANSPORTS, 100 * shares, "o-", color=colour, linewidth=1, markersize=4)
        axes.plot([], [], "o-", color=colour, label=policy)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("distance from the simulator's swing (%)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
    save_drawing(figure, path)
