"""From log to walk, small: drive models, policies of each arm, walks, and what is published."""

import json
from dataclasses import replace

import numpy as np
import pytest

from isthmus.actuators.predict import rmse
from isthmus.cli.main import main
from isthmus.cli.old_names import current_arguments
from isthmus.core import Problem
from isthmus.experiments.anymal.drives import as_log, errors, gait_log
from isthmus.experiments.anymal.excitation import sines, steps
from isthmus.experiments.anymal.experiment import Plan, load_models, make_drives
from isthmus.experiments.anymal.trials import SETTLING, Walked, walk
from isthmus.robots.anymal.legs import feet
from isthmus.robots.anymal.model import STANCE, TIMESTEP
from isthmus.robots.anymal.task import COMMAND, SIZE, TURN, VELOCITY


def test_feet_follow_sines_as_far_as_legs_reach_and_steps_are_held_for_a_control_period():
    rng = np.random.default_rng(0)
    swept = sines(2, 2.0, rng)
    assert swept.shape == (round(2.0 / TIMESTEP), 2, 12)
    away = np.linalg.norm(feet(swept) - feet(STANCE), axis=-1)
    assert 0.04 < np.quantile(away, 0.99) < 0.125
    assert away.max() < 0.16
    held = steps(2, 1.0, rng)
    np.testing.assert_array_equal(held.reshape(50, 8, 2, 12), np.repeat(held[::8][:, None], 8, axis=1))
    assert (np.diff(held[::8], axis=0) != 0).all()


def test_a_log_has_a_segment_for_each_run_and_after_each_fall():
    targets = np.random.default_rng(0).normal(size=(10, 2, 12))
    played = {name: targets + number for number, name in enumerate(("position", "velocity", "torque"))}
    played["fresh"] = np.zeros((10, 2))
    played["fresh"][4, 1] = 1
    log = as_log(targets, played, "sine")
    assert log.starts == (0, 10, 14)
    np.testing.assert_array_equal(log.target[10:], targets[:, 1])
    np.testing.assert_array_equal(log.torque[:10], targets[:, 0] + 2)


def test_the_log_of_a_gait_ends_with_a_fall_and_holds_each_target():
    rng = np.random.default_rng(0)
    walked = [
        {"targets": rng.normal(size=(3, 12)), "ended": np.array([0.0, 1.0 if step >= 2 else 0.0, 0.0])}
        | {name: rng.normal(size=(8, 3, 12)) for name in ("position", "velocity", "torque")}
        for step in range(4)
    ]
    log = gait_log(walked, robots=3)
    assert log.starts == (0, 32, 48)
    assert len(log) == 32 + 16 + 32
    np.testing.assert_array_equal(log.target[32:40], np.tile(walked[0]["targets"][1], (8, 1)))
    np.testing.assert_array_equal(log.torque[48:56], walked[0]["torque"][:, 2])


class Gliders:
    """Robots that move at once with a share of the commanded speed; one falls on the way."""

    n = 6

    def reset(self, commands):
        self.seen, self.taken, self.kicks = np.zeros((6, SIZE)), 0, []
        self.seen[:, TURN] = 1.0
        self.seen[:, COMMAND] = commands
        self.seen[:, VELOCITY] = 0.9 * commands
        return self.seen

    def step(self, targets, kicks=None):
        self.taken += 1
        self.kicks.append(kicks is not None)
        return self.seen, np.array([False] * 5 + [self.taken > 600])


def test_a_walk_counts_speed_after_the_start_and_nothing_after_a_fall():
    robots = Gliders()
    walked = walk(robots, lambda _seen: np.zeros((6, 12)), 0, steps=1000)
    np.testing.assert_allclose(walked.speeds[:5] / walked.commands[:5], 0.9)
    np.testing.assert_allclose(walked.speeds[5] / walked.commands[5], 0.9 * (600 - SETTLING) / (1000 - SETTLING))
    assert walked.fell.tolist() == [False] * 5 + [True]
    assert np.flatnonzero(robots.kicks).tolist() == [199, 399, 599, 799, 999]


def test_a_summary_tells_share_error_and_falls_by_commanded_speed():
    walked = Walked(
        np.array([0.2, 0.4, 0.5, 0.8]), np.array([0.3, 0.4, 0.4, 0.4]), np.array([False, False, False, True])
    )
    found = walked.summary()
    np.testing.assert_allclose(found["share"], np.mean([1.5, 1.0, 0.8, 0.5]))
    np.testing.assert_allclose(found["error"], np.mean([0.5, 0.0, 0.2, 0.5]))
    assert found["falls"] == 0.25
    assert found["falls_by_speed"] == [0.0, 0.0, 1.0]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The whole experiment, quick, and what was printed."""
    out = tmp_path_factory.mktemp("anymal") / "out"
    main(["reproduce", "anymal", "--quick", "--no-video", "--workers", "1", "--out", str(out)])
    return out


def test_the_quick_experiment_publishes_every_arm_beside_zero_action_and_the_bare_trot(quick):
    data = json.loads((quick / "anymal.json").read_text())
    assert set(data["walks"]) == {"network", "fitted", "ideal", "trot", "standing"}
    assert set(data["drives"]) == {"ideal", "fitted PD", "linear", "MLP, paper's lags", "MLP, dense lags"}
    assert data["drives"]["ideal"]["sweep"]["ratio"] == 1.0
    assert data["data"]["seconds"] == pytest.approx(9.0)
    assert data["walks"]["standing"]["first"]["share"]["mean"] < 0.2
    for name in ("anymal.md", "anymal.svg", "anymal.html"):
        assert (quick / name).stat().st_size > 1000
    assert "zero action" in (quick / "anymal.md").read_text()


def test_reproduce_is_a_name_that_stays():
    assert current_arguments(["reproduce", "anymal", "--quick"]) == (["experiment", "anymal", "--quick"], [])
    assert current_arguments(["reproduce", "figure-4"])[1]


def test_a_second_run_reads_what_the_first_one_did(quick, capsys):
    before = {path: path.stat().st_mtime_ns for path in quick.rglob("*.npz")}
    main(["experiment", "anymal", "--quick", "--no-video", "--json", "--workers", "1", "--out", str(quick)])
    assert json.loads(capsys.readouterr().out)["command"] == "isthmus experiment anymal --quick"
    assert {path: path.stat().st_mtime_ns for path in quick.rglob("*.npz")} == before


def test_drive_models_of_other_data_are_refused(quick):
    plan = Plan.quick()
    other = replace(plan, collection=replace(plan.collection, epochs=3))
    with pytest.raises(Problem, match="other settings"):
        make_drives(other, quick / "drives", print)


def test_the_fitted_law_is_nearer_to_the_torque_than_the_ideal_one(quick):
    models = load_models(quick / "drives")
    assert set(models) >= {"ideal", "fitted PD"}
    data = json.loads((quick / "drives" / "drives.json").read_text())
    assert data["sweep"]["fitted PD"]["ratio"] < 0.8
    played = {name: np.ones((40, 1, 12)) for name in ("position", "velocity", "torque")}
    log = as_log(np.zeros((40, 1, 12)), played | {"fresh": np.zeros((40, 1))}, "still")
    found = errors({"ideal": models["ideal"]}, log)["ideal"]
    np.testing.assert_allclose(found["rmse"], rmse(np.array([-40.0 - 1.0])), rtol=1e-6)
