"""`--sensors` on the command line: words with spaces or commas between them, checked before anything runs."""

import json

import pytest

from isthmus.cli import main

PLAN = ["transfer", "hopper", "--estimator", "kalman", "--dry-run", "--sensors"]


@pytest.mark.parametrize("words", [["positions", "foot_joint velocity"], ["positions,foot_joint velocity"]])
def test_sensors_may_be_given_with_commas(words, capsys):
    main([*PLAN, *words])
    plan = json.loads(capsys.readouterr().out)
    assert plan["config"]["sensors"] == ["positions", "foot_joint velocity"]


def test_sensors_that_the_robot_has_not_are_refused_by_a_dry_run(capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*PLAN, "encoders,gyroscope"])
    assert stopped.value.code == 2
    assert "unknown sensor 'gyroscope'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("gap", ["hide=speeds", "mass:tail=1.2"])
def test_gaps_that_do_not_fit_are_refused_by_a_dry_run(gap, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["transfer", "hopper", "--gap", gap, "--dry-run"])
    assert capsys.readouterr().err.startswith("isthmus: ")
