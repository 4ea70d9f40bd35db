"""A control step of a bundle that was loaded as a robot's computer loads it."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from isthmus.adapt import MethodSettings, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.bench.control import HISTORY, random_inverse
from isthmus.bench.measure import Benchmark, middle
from isthmus.core import History, HistoryBuffer, act, initial_state, stream
from isthmus.deploy import DeployedPolicy, load_policy
from isthmus.deploy.export import FinishedRun, export_bundle
from isthmus.deploy.load import no_finetuner
from isthmus.deploy.policy import Runtime
from isthmus.robots import load_task
from isthmus.transfer import Config
from isthmus.transfer.source.policy import source_policy
from isthmus.transfer.source.source import make_source

ROBOT, STEPS = "hopper", 300
SETTINGS = MethodSettings(history=HISTORY)


def bundle_step(repeats: int) -> Benchmark:
    """The paper's network from a bundle, which also predicts in the simulator, beside the same step of the run."""
    return _timed("bundle-step", "inverse", "numpy", repeats)


def bundle_fused_step(repeats: int) -> Benchmark:
    """A whole step in one graph of ONNX Runtime, beside the same step in NumPy."""
    return _timed("bundle-step-fused", "unadapted", "fused", repeats)


def _timed(name: str, method: str, runtime: Runtime, repeats: int) -> Benchmark:
    run = _run(method)
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as folder:
        export_bundle(run, Path(folder) / "bundle")
        loaded = load_policy(Path(folder) / "bundle", runtime=runtime)
    seen = _observations(run)
    times = [(_bundle_times(loaded, seen), _run_times(run, seen)) for _ in range(repeats)]
    ratios = [float(np.median(ours) / np.median(theirs)) for ours, theirs in times]
    taken = 1e6 * np.concatenate([ours for ours, _ in times])
    p50, p99 = (float(one) for one in np.percentile(taken, (50, 99)))
    period = 1e3 * run.task.robot_model.spec.control_period
    floor = f"the same step of the run, in NumPy, n = 1 (the control period is {period:.0f} ms)"
    step = {"p50": p50, "p99": p99, "worst": float(taken.max())}
    return Benchmark(name, *middle(ratios), floor, goal=1.5, better="lower", step=step)


def _run(method: str) -> FinishedRun:
    """A run as it may have ended; what it learned is random, which takes as long."""
    task = load_task(ROBOT)
    source = replace(make_source(task, source_policy(task, None), 0), finetuner=no_finetuner)
    made, state = make_method(method, source, SETTINGS), None
    if method == "inverse":
        learned = random_inverse(task.robot_model.spec, stream(0, "bench")).state()
        state = MethodState(learned.kind, learned.arrays, learned.about)
        made.restore(state)
    return FinishedRun(Config(ROBOT, method=method, settings=SETTINGS), task, source, made, state, made.policy())


def _observations(run: FinishedRun) -> np.ndarray:
    """What a robot shows along the way of the source's policy (STEPS, obs)."""
    world = run.task.source()
    rng = stream(0, "bench")
    now, seen = world.reset(rng), list[np.ndarray]()
    for _ in range(STEPS):
        seen.append(now[0])
        step = world.step(act(run.source.policy, History.of(now))[0])
        now = world.reset(rng) if step.ended[0] else step.observations
    return np.array(seen)


def _bundle_times(policy: DeployedPolicy, seen: np.ndarray) -> np.ndarray:
    policy.reset()
    times = np.empty(len(seen))
    for row, observation in enumerate(seen):
        began = time.perf_counter()
        policy.act(observation)
        times[row] = time.perf_counter() - began
    return times


def _run_times(run: FinishedRun, seen: np.ndarray) -> np.ndarray:
    """The same steps by the run's own policy, history included."""
    spec = run.task.robot_model.spec
    buffer, state = HistoryBuffer(spec, 1, run.method.history), initial_state(run.policy, 1)
    times, command = np.empty(len(seen)), np.zeros((1, spec.action_size))
    for row, observation in enumerate(seen):
        began = time.perf_counter()
        if row:
            buffer.append(command, observation[None])
        else:
            buffer.begin(observation[None])
        raw, state = act(run.policy, buffer.window, state)
        command = spec.clip(raw)
        times[row] = time.perf_counter() - began
    return times
