"""Collecting on several robots at once."""

import os

import numpy as np
from mujoco.batch import Batch

from isthmus.adapt.settings import CollectSettings
from isthmus.bench.measure import Benchmark, in_turns
from isthmus.core import stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.robots import load_task
from isthmus.transfer.collection import ReferenceRollout, collect

ROBOTS, STEPS = 16, 40
SIMULATIONS = 3
"""Of each robot: itself, what the simulator expects of its next step, and the trajectory it should be on."""


def collection(repeats: int) -> Benchmark:
    """Humanoids with their expert, against bare stepping of as many simulations."""
    task = load_task("humanoid")
    expert, spec = load_expert(task), task.robot_model.spec
    robots, simulator = task.robot(Gap.parse("gravity=1.1"), ROBOTS), task.source()
    reference = ReferenceRollout(expert, task.source(ROBOTS), 1, np.ones(spec.observation_size))
    settings = CollectSettings(drift=np.inf)
    world = task.source(ROBOTS)
    world.reset(stream(0, "bench"))
    bare = Batch(task.robot_model.model, nsim=ROBOTS, nthread=len(os.sched_getaffinity(0)))
    standing = np.hstack((world.fields["qpos"], world.fields["qvel"]))
    qpos, qvel, nq = bare.bind("qpos"), bare.bind("qvel"), task.robot_model.model.nq

    def ours() -> None:
        collect(
            robots,
            Unadapted(expert, simulator),
            reference,
            settings,
            history=1,
            length=STEPS,
            budget=ROBOTS * STEPS,
            rng=stream(0, "bench"),
        )

    def floor() -> None:
        for _ in range(SIMULATIONS):
            bare.reset()
            qpos[:], qvel[:] = standing[:, :nq], standing[:, nq:]
            for _ in range(STEPS):
                bare.step(nstep=task.robot_model.frame_skip)

    ratio, half_iqr = in_turns(ours, floor, repeats)
    return Benchmark(
        "collection",
        1 / ratio,
        half_iqr / ratio**2,
        f"bare stepping of {ROBOTS} humanoids, their predictions and their courses",
        goal=0.6,
        better="higher",
    )
