"""Physics from the innovations of a filter."""

import numpy as np
import pytest

from isthmus.core import Trajectory, stream
from isthmus.estimate.filter import SensorModel
from isthmus.estimate.kalman import KalmanFilter, Process
from isthmus.estimate.prediction_error import identified
from isthmus.estimate.recorded import Recording
from isthmus.gaps import Gap
from isthmus.sysid import Physics

RUNS, STEPS, NOISE = 4, 40, 0.1


def shown(task, gap):
    """What noisy sensors show of an arm that is moved about."""
    world, rng = task.target(Gap.parse(gap), RUNS), stream(0, "innovations")
    seen, applied = [world.reset(rng)], []
    command = np.zeros((RUNS, world.spec.action_size))
    for _ in range(STEPS):
        command = 0.8 * command + 0.6 * world.spec.half_range * rng.uniform(-1, 1, command.shape)
        step = world.step(world.spec.clip(command))
        applied.append(step.applied)
        seen.append(step.observations)
    sensed = np.stack(seen, axis=1)
    sensed = sensed + NOISE * rng.standard_normal(sensed.shape)
    actions = np.stack(applied, axis=1)
    return [Trajectory(sensed[i], actions[i], actions[i], actions[i], sensed[i, 1:]) for i in range(RUNS)]


def test_a_filter_that_trusts_its_wrong_simulator_does_not_overshoot_the_right_one(reacher):
    physics, runs = Physics(reacher.robot_model), shown(reacher, "damping=2,mass=1.3")
    recording = Recording.of(runs)
    size = recording.sensed.shape[2]
    scale = np.diff(recording.sensed, axis=1).std(axis=(0, 1)) + 1e-3
    start = recording.sensed[:, 0].mean(axis=0)
    one = KalmanFilter(
        physics.simulator(physics.values(np.zeros(physics.size))),
        SensorModel(np.arange(size), np.full(size, NOISE), np.zeros(size)),
        Process(0.02 * scale, start, np.diag(scale**2)),
    )
    z = identified(one, np.zeros(physics.size), recording, physics)
    values = {group.name: part for group, part in zip(physics.groups, physics.values(z), strict=True)}
    assert values["damping"] == pytest.approx([2.0, 2.0], rel=0.05)
