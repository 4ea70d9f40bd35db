import numpy as np
import pytest

from isthmus.core import History, Problem
from isthmus.data import write_json
from isthmus.studies.figure_5 import run
from isthmus.studies.figure_5.cell import Outcome
from isthmus.studies.figure_5.pd import SwingPd, tune
from isthmus.studies.figure_5.summary import Summary
from isthmus.tasks.fetch.task import at_start, on_course

CLIPPED = {"commands": 1, "position": 0, "step": 0, "lead": 0}


def outcome(method, *distances, robot="first"):
    return Outcome(robot, method, distances, 100, 1.0, CLIPPED, {})


def test_every_method_has_its_mean_spread_and_ratio_to_pd():
    told = Summary.of([outcome("pd", 0.04, 0.06), outcome("preview", 0.01, 0.03)]).to_json()
    preview = told["robots"]["first"]["preview"]
    assert preview["mean"] == pytest.approx(0.02)
    assert preview["std"] == pytest.approx(0.01)
    assert preview["ratio_to_pd"] == pytest.approx(0.4)


def test_a_ratio_is_to_the_pd_of_the_same_robot():
    summary = Summary.of([outcome("pd", 0.04), outcome("pd", 0.1, robot="second"), outcome("x", 0.05, robot="second")])
    assert summary.ratio(summary.outcomes[2]) == pytest.approx(0.5)


def test_a_damaged_cell_is_refused(tmp_path):
    (tmp_path / "cell.json").write_text('{"robot": "first"}')
    with pytest.raises(Problem, match="not a cell"):
        Outcome.load(tmp_path / "cell.json")


def test_pd_on_course_sends_the_arm_to_the_simulators_next_state():
    seen = at_start(np.array([0.0]))
    target, _, _ = on_course(np.array([0.0]), np.array([0.1]))
    command = SwingPd(np.ones(7), np.zeros(7))(History.of(seen))
    np.testing.assert_allclose(command, target, atol=1e-6)


def test_every_joint_gets_the_gains_with_which_it_did_best():
    def trial(policy, number):
        """A robot that is off by how far each gain is from what suits the joint."""
        times = 0.1 * np.arange(1, 5)
        positions, _, _ = on_course(np.full(4, float(number)), times)
        suits = np.where(np.arange(7) < 3, 0.3, 0.9)
        seen = np.zeros((4, 16))
        seen[:, :7], seen[:, 14], seen[:, 15] = positions + np.abs(policy.stiffness - suits), times, number
        return seen

    found = tune(trial, (0.0, 0.3, 0.9), (0.0,), (0,))
    np.testing.assert_array_equal(found.policy.stiffness, [0.3] * 3 + [0.9] * 4)


@pytest.mark.parametrize(
    "change", [{"clipped": []}, {"samples": "many"}, {"distances": ["far"]}, {"notes": None}, {"robot_minutes": None}]
)
def test_a_cell_with_a_field_of_another_type_is_refused(tmp_path, change):
    write_json(tmp_path / "cell.json", outcome("pd", 0.04).to_json() | change)
    with pytest.raises(Problem, match=rf"not a cell of figure 5 \({next(iter(change))}"):
        Outcome.load(tmp_path / "cell.json")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"ros://" + b"x" * 10_000, b"ros://192.0.2.7:11311", b"http://x"]
)
def test_a_study_goes_on_at_an_address_of_this_machine_only(tmp_path, content):
    assert run._address(tmp_path) == run._address(tmp_path)
    (tmp_path / "address.txt").write_bytes(content)
    with pytest.raises(Problem):
        run._address(tmp_path)
