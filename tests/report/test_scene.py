import copy

import numpy as np
import pytest

from isthmus.gaps import Gap
from isthmus.report.scene import gravity_angle
from isthmus.robots import load_task


@pytest.mark.parametrize("tilt", [0, 30, 90])
def test_the_angle_of_gravity_is_the_tilt(tilt):
    source = load_task("reacher").robot_model.model
    assert gravity_angle(source, Gap.parse(f"tilt={tilt}").apply(source)) == pytest.approx(tilt)


def test_no_gravity_has_no_direction():
    source = load_task("reacher").robot_model.model
    floating = copy.copy(source)
    floating.opt.gravity[:] = np.zeros(3)
    assert gravity_angle(source, floating) == 0
