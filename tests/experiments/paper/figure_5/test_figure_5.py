import numpy as np
import pytest

from isthmus.core import History, Problem
from isthmus.experiments.paper.figure_5 import run
from isthmus.experiments.paper.figure_5.cell import SwingPd, swing_cell, tune
from isthmus.experiments.paper.figure_5.settings import QUICK
from isthmus.experiments.paper.figure_5.summary import Summary
from isthmus.experiments.store import CellFiles
from isthmus.hardware.ros1 import Address
from isthmus.robots.fetch.task import at_start, on_reference

CLIPPED = {"commands": 1, "position": 0, "step": 0, "lead": 0}


def result(*distances):
    return {"distances": distances, "samples": 100, "robot_minutes": 1.0, "clipped": CLIPPED, "notes": {}}


def test_every_method_has_its_mean_spread_and_ratio_to_pd():
    told = Summary.of({("first", "pd"): result(0.04, 0.06), ("first", "preview"): result(0.01, 0.03)}).to_json()
    preview = told["robots"]["first"]["preview"]
    assert preview["mean"] == pytest.approx(0.02)
    assert preview["std"] == pytest.approx(0.01)
    assert preview["ratio_to_pd"] == pytest.approx(0.4)


def test_a_ratio_is_to_the_pd_of_the_same_robot():
    found = {("first", "pd"): result(0.04), ("second", "pd"): result(0.1), ("second", "x"): result(0.05)}
    assert Summary.of(found).robots["second"]["x"]["ratio_to_pd"] == pytest.approx(0.5)


def test_pd_on_course_sends_the_arm_to_the_simulators_next_state():
    seen = at_start(np.array([0.0]))
    target, _, _ = on_reference(np.array([0.0]), np.array([0.1]))
    command = SwingPd(np.ones(7), np.zeros(7))(History.of(seen))
    np.testing.assert_allclose(command, target, atol=1e-6)


def test_every_joint_gets_the_gains_with_which_it_did_best():
    def trial(policy, number):
        """A robot that is off by how far each gain is from what suits the joint."""
        times = 0.1 * np.arange(1, 5)
        positions, _, _ = on_reference(np.full(4, float(number)), times)
        suits = np.where(np.arange(7) < 3, 0.3, 0.9)
        seen = np.zeros((4, 16))
        seen[:, :7], seen[:, 14], seen[:, 15] = positions + np.abs(policy.stiffness - suits), times, number
        return seen

    found = tune(trial, (0.0, 0.3, 0.9), (0.0,), (0,))
    np.testing.assert_array_equal(found.policy.stiffness, [0.3] * 3 + [0.9] * 4)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"clipped": []}, "clipped is"),
        ({"clipped": {"position": 0, "step": 0}}, "clipped has no lead"),
        ({"samples": "many"}, "samples"),
        ({"distances": ["far"]}, "distances"),
        ({"distances": []}, "distances must"),
        ({"distances": [0.0]}, "distances must"),
        ({"notes": None}, "notes"),
        ({"robot_minutes": None}, "robot_minutes"),
    ],
)
def test_a_result_that_cannot_be_shown_is_refused(tmp_path, change, fault):
    cell, store = swing_cell("first", "pd", QUICK, Address(), 1.0), CellFiles(tmp_path, keep_runs=True)
    store.save(cell, result(0.04))
    assert store.load(cell) == result(0.04) | {"distances": [0.04]}
    store.save(cell, result(0.04) | change)
    with pytest.raises(Problem, match=rf"not the result of a cell \({fault}"):
        store.load(cell)


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"ros://" + b"x" * 10_000, b"ros://192.0.2.7:11311", b"http://x"]
)
def test_the_figure_continues_at_an_address_of_this_machine_only(tmp_path, content):
    assert run._address(tmp_path) == run._address(tmp_path)
    (tmp_path / "address.txt").write_bytes(content)
    with pytest.raises(Problem):
        run._address(tmp_path)
