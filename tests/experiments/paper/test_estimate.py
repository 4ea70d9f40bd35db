import pytest

from isthmus.experiments.paper import FIGURES
from isthmus.experiments.paper.estimate import time_left

CASES = FIGURES["figure-3"]().cases
[tilt, flat] = [case for case in CASES if case.robot == "reacher" and case.gap in ("tilt=15", "none")][::-1]
hopper = next(case for case in CASES if case.robot == "hopper")


def test_a_cell_takes_as_long_as_its_case_did_or_else_its_robot():
    took = {tilt.cell(0): 10.0, tilt.cell(1): 20.0, flat.cell(0): 60.0, hopper.cell(0): 1000.0}
    assert time_left([tilt.cell(2)], took, 1).seconds == pytest.approx(15)
    other = next(case for case in CASES if case.gap == "tilt=90")
    assert time_left([other.cell(0)], took, 1).seconds == pytest.approx(30)
    assert time_left([tilt.cell(2), hopper.cell(1)], took, 2).seconds == pytest.approx((15 + 1000) / 2)


def test_more_workers_than_cells_do_not_help():
    took = {tilt.cell(0): 10.0}
    assert time_left([tilt.cell(1)], took, 8).seconds == pytest.approx(10)


def test_what_nobody_knows_is_said():
    left = time_left([tilt.cell(1), hopper.cell(0), hopper.cell(1)], {tilt.cell(0): 10.0}, 1)
    assert left.seconds == pytest.approx(10)
    assert left.unknown == ("hopper",)
    assert time_left([], {}, 2).seconds == 0
