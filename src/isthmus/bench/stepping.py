"""Stepping many simulations, observations included."""

import os
import warnings

import gymnasium
import mujoco
import numpy as np
from mujoco.rollout import Rollout

from isthmus.bench.measure import Benchmark, in_turns
from isthmus.core import stream
from isthmus.robots import load_task

WORLDS, STEPS = 256, 50
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def batched_stepping(repeats: int) -> Benchmark:
    """The batched world against `mujoco.rollout`, which runs open loop and returns to Python once."""
    task = load_task("reacher")
    world, model = task.source(WORLDS), task.robot_model.model
    commands = stream(0, "bench").uniform(-1, 1, (WORLDS, STEPS, model.nu))
    threads = len(os.sched_getaffinity(0))
    data = [mujoco.MjData(model) for _ in range(threads)]
    start = np.empty(mujoco.mj_stateSize(model, FULL))
    mujoco.mj_getState(model, data[0], start, FULL)
    initial = np.tile(start, (WORLDS, 1))
    substeps = np.repeat(commands, task.robot_model.frame_skip, axis=1)

    def ours() -> None:
        world.reset(stream(0, "bench", "reset"))
        for step in range(STEPS):
            world.step(commands[:, step])

    with Rollout(nthread=threads) as rollout:
        ratio, half_iqr = in_turns(ours, lambda: rollout.rollout(model, data, initial, substeps), repeats)
    return Benchmark(
        "batched-stepping",
        1 / ratio,
        half_iqr / ratio**2,
        f"mujoco.rollout of {WORLDS} simulations on {threads} threads",
        goal=0.85,
        better="higher",
    )


def batched_vs_gymnasium(repeats: int) -> Benchmark:
    """The batched world against Gymnasium's synchronous vector environment of as many worlds."""
    task = load_task("reacher")
    world = task.source(WORLDS)
    rng = stream(0, "bench")
    commands = rng.uniform(-1, 1, (STEPS, WORLDS, world.spec.action_size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium would rather have us use v5, whose observation is not the paper's
        envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make(task.gym_id) for _ in range(WORLDS)])
        envs.reset(seed=0)
    theirs_commands = commands.astype(np.float32)

    def ours() -> None:
        world.reset(rng)
        for step in range(STEPS):
            world.step(commands[step])

    def theirs() -> None:
        for step in range(STEPS):
            envs.step(theirs_commands[step])

    ratio, half_iqr = in_turns(ours, theirs, repeats)
    envs.close()
    return Benchmark(
        "batched-vs-gymnasium",
        1 / ratio,
        half_iqr / ratio**2,
        f"gymnasium.vector.SyncVectorEnv of {WORLDS} {task.gym_id}",
        goal=4.0,
        better="higher",
    )
