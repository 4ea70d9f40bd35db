import json

import numpy as np
import pytest

from isthmus.actuators import Actuator, Contract, Pd
from isthmus.cli.actuator.equipment import with_actuator
from isthmus.cli.main import main

JOINTS = ("thigh_joint", "leg_joint", "foot_joint")


@pytest.fixture
def model(tmp_path):
    terms = Contract(JOINTS, 0.002, (0,), 100.0, np.full(3, 200.0), np.full(3, np.inf), np.full(3, np.inf),
                     np.tile([[-0.1, 0.1], [-9.0, 9.0]], (3, 1, 1)), command="effort")  # fmt: skip
    Actuator(terms, pd=Pd.ideal(np.full(3, 150.0), np.zeros(3)), name="weak").save(tmp_path / "weak.npz")
    return tmp_path / "weak.npz"


def test_a_policy_is_evaluated_with_the_drives_and_warned_outside_their_data(model, capsys):
    scores = []
    for options in ([], ["--actuator", str(model)]):
        main(["policy", "evaluate", "hopper", "--episodes", "2", "--json", *options])
        said = capsys.readouterr()
        scores.append(json.loads(said.out)["score"]["mean"])
    assert scores[1] < 0.9 * scores[0]
    assert "outside the data it was fitted to" in " ".join(said.err.split())


def test_a_model_that_has_changed_is_not_gone_on_with(model, capsys):
    text = with_actuator("hopper", model)
    model.write_bytes(model.read_bytes() + b" ")
    with pytest.raises(SystemExit) as stopped:
        main(["policy", "evaluate", text, "--episodes", "1"])
    assert stopped.value.code == 2
    assert "has changed since this began" in " ".join(capsys.readouterr().err.split())


def test_exports_by_command(model, tmp_path, capsys):
    main(["actuator", "export", str(model), "--to", "c", "--out", str(tmp_path / "weak.h"), "--json"])
    assert json.loads(capsys.readouterr().out)["dt"] == 0.002
