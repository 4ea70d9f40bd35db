import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.robots import load_task

MODEL = load_task("hopper").robot_model.model


def test_a_centre_of_mass_moves_along_its_own_axis_and_nothing_else_does() -> None:
    changed = Gap.parse("com-x:leg=0.03").apply(MODEL)
    moved = changed.body_ipos - MODEL.body_ipos
    leg = MODEL.body("leg").id
    np.testing.assert_allclose(moved[leg], (0.03, 0, 0), atol=1e-12)
    assert not np.delete(moved, leg, axis=0).any()
    np.testing.assert_array_equal(changed.body_pos, MODEL.body_pos)


def test_a_joint_moves_with_all_that_hangs_on_it() -> None:
    changed = Gap.parse("joint-z:leg=-0.02").apply(MODEL)
    leg = MODEL.body("leg").id
    np.testing.assert_allclose((changed.body_pos - MODEL.body_pos)[leg], (0, 0, -0.02), atol=1e-12)
    assert changed.body_subtreemass[0] == pytest.approx(MODEL.body_subtreemass[0])
    assert not np.allclose(changed.dof_invweight0, MODEL.dof_invweight0)  # what MuJoCo derives follows


def test_the_root_of_a_robot_has_no_joint_to_move() -> None:
    with pytest.raises(Problem, match="hangs on nothing"):
        Gap.parse("joint-z:torso=0.02").apply(MODEL)


def test_a_mass_that_no_joint_notices_cannot_be_moved() -> None:
    with pytest.raises(Problem, match="no joint notices"):
        Gap.parse("com-y:leg=0.02").apply(MODEL)
