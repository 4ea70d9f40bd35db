import json

import numpy as np
import pytest

from isthmus.actuators import Actuator, Joint, load_actuator, make_engine
from isthmus.core import Problem
from isthmus.io import save_arrays


def test_a_model_survives_its_file(make, tmp_path):
    model = make("pd", "network", "gru")
    model.save(tmp_path / "a.npz")
    again = load_actuator(tmp_path / "a.npz")
    given = [np.random.default_rng(0).normal(0, 0.4, (1, 3)) for _ in range(3)]
    np.testing.assert_array_equal(make_engine(again, 1).step(*given), make_engine(model, 1).step(*given))
    assert again.contract.joints == model.contract.joints
    assert json.loads((tmp_path / "a.json").read_text())["dt"] == 0.0025


@pytest.mark.parametrize(
    "damage", [{"lags": [3, 1]}, {"joints": "abc"}, {"dt": -1}, {"parts": []}, {"activation": "sin"}]
)
def test_a_file_that_makes_no_sense_is_refused(make, tmp_path, damage):
    model = make("network")
    arrays = {
        name: np.asarray(getattr(model.contract, name))
        for name in ("effort_limit", "saturation", "speed_limit", "seen")
    }
    arrays |= {f"network/{name}": value for name, value in model.network.arrays().items()}
    save_arrays(tmp_path / "a.npz", arrays, {"kind": "actuator"} | model.terms() | damage)
    with pytest.raises(Problem, match=r"a\.npz is not"):
        load_actuator(tmp_path / "a.npz")


def test_at_another_rate_lags_cover_the_same_time(make):
    model = make("pd", "network")
    finer = model.at(0.00125)
    assert finer.contract.lags == (0, 4, 10)
    np.testing.assert_allclose(finer.pd.delay, 2 * model.pd.delay)


def test_a_rate_at_which_lags_are_no_whole_steps_is_refused(make):
    with pytest.raises(Problem, match=r"made for steps of 2\.5 ms and cannot run at 4 ms"):
        make("network").at(0.004)


def test_a_recurrent_model_keeps_its_rate(make):
    with pytest.raises(Problem, match="every GRU runs at the rate of its data"):
        make("gru").at(0.00125)


def test_parts_for_other_joints_are_refused(make):
    model = make("pd")
    with pytest.raises(Problem, match="do not fit an actuator of 3"):
        Actuator(model.contract, pd=model.pd, joint=Joint(np.ones(2), np.ones(2), np.ones(2)))
