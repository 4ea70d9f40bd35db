"""Replays from the best start that the sensors allow."""

import mujoco
import numpy as np
import pytest

from isthmus.replay.errors import errors, judged, resolution
from isthmus.replay.explain import predictor
from isthmus.replay.recording import Recording
from isthmus.replay.rig import make_rig
from isthmus.replay.smooth import smoothed
from isthmus.replay.starts import best_starts, from_best_starts

TICK = 2e-3
"""rad that the encoder resolves."""


@pytest.fixture(scope="module")
def balanced(lab):
    """A pendulum that is balanced upright, by an encoder with ticks."""
    model = lab.model(lab.pendulum)
    data, rows = mujoco.MjData(model), []
    data.qpos[0], before = np.pi + 0.05, np.pi + 0.05
    for step in range(200):
        seen = TICK * np.round(data.qpos[0] / TICK)
        wanted = np.pi + 0.2 * np.sin(0.09 * step)
        data.ctrl[0] = np.clip(-6 * (seen - wanted) - 0.5 * (seen - before) / lab.dt, -3, 3)
        rows.append((seen, data.ctrl[0]))
        before = seen
        mujoco.mj_step(model, data, round(lab.dt / model.opt.timestep))
    position, command = np.array(rows).T[:, :, None]
    return Recording(lab.dt, ("swing",), ("drive",), position, smoothed(position, lab.dt)[1], command)


def test_the_model_that_is_right_has_a_start_that_stays_with_the_robot(lab, balanced):
    rig, where = make_rig(lab.model(lab.pendulum), balanced.joints, balanced.actuators, lab.dt), judged(balanced, 1.0)
    plain, best = errors(predictor(rig), balanced, where), from_best_starts(rig, balanced, where)
    assert plain.median > 0.05
    assert best.median < 0.1 * plain.median
    wrong = lab.model(lab.pendulum)
    wrong.actuator_gear[0, 0] *= 1.3
    other = make_rig(wrong, balanced.joints, balanced.actuators, lab.dt)
    assert from_best_starts(other, balanced, where).median > 5 * best.median


def test_no_start_is_further_off_than_sensors_resolve(lab, balanced):
    rig, where = make_rig(lab.model(lab.pendulum), balanced.joints, balanced.actuators, lab.dt), judged(balanced, 1.0)
    moved = best_starts(rig, balanced, where)
    off = np.abs(moved.position - balanced.position)
    assert off.max() <= resolution(balanced)[0] + 1e-12
    assert off[where.first].min() > 0
    assert np.count_nonzero(off) == len(where)
