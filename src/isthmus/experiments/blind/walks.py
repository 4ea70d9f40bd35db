"""How far estimates of a walking robot are from the truth, which only a simulation knows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from isthmus.core import AnyPolicy, Estimator, Float, rollout, stream
from isthmus.experiments.grid import Json
from isthmus.gaps import Gap
from isthmus.robots.anymal.task import VELOCITY, Z
from isthmus.tasks import Task

HIDDEN = {"height": Z, **{f"velocity {axis}": VELOCITY + place for place, axis in enumerate("xyz")}}
"""What neither encoders nor an IMU show of the base, in m and m/s, and where the observation has it."""
PUSH, PUSHED_EVERY = 0.5, 100
"""Largest change of the base's speed by a push along each axis, in m/s, and control steps between two."""


@dataclass(frozen=True)
class Walks:
    """Walks that an estimator is judged by."""

    count: int = 4
    steps: int = 300


def estimate_errors(
    task: Task, policy: AnyPolicy, stage: Callable[[int], Estimator], gap: str, walks: Walks, seed: int, *, pushed: bool
) -> Json:
    """Root mean squares of the errors of `stage` while `policy` walks by its estimates, and the share of falls."""
    world = replace(task, estimator=stage).target(Gap.parse(gap).resolve(task.robot_model.model), walks.count)
    rng, columns = stream(seed, "blind", "walks"), list(HIDDEN.values())
    truth, errors, fell = np.empty((walks.count, world.spec.observation_size)), list[Float](), 0
    for step, moment in enumerate(rollout(world, policy, world.reset(rng), steps=walks.steps)):
        task.robot_model.observe(world.fields, truth)
        errors.append((moment.step.observations - truth)[moment.running][:, columns])
        fell += int((moment.running & moment.step.ended).sum())
        if pushed and step % PUSHED_EVERY == PUSHED_EVERY - 1:
            world.fields["qvel"][:, :2] += rng.uniform(-PUSH, PUSH, (walks.count, 2))
    rms = np.sqrt(np.square(np.concatenate(errors)).mean(axis=0))
    named = dict(zip(HIDDEN, rms.tolist(), strict=True))
    return {**named, "velocity": float(np.sqrt(np.square(rms[1:]).mean())), "falls": fell / walks.count}
