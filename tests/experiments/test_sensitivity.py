import json

import pytest

from isthmus.cli import main
from isthmus.experiments.sensitivity import DIALS, sensitivity
from isthmus.experts import load_expert
from isthmus.robots import load_task

TASK = load_task("reacher")


def test_where_there_is_no_gap_nothing_is_lost_and_a_larger_one_costs_more():
    seen = []
    [tilt, noise] = sensitivity(TASK, load_expert(TASK), ("tilt", "gravity", "motor-noise"), 30, 0, seen.append)
    assert seen == [tilt, noise]  # gravity does not reach this robot: it is left out
    assert tilt.normalised[0] == pytest.approx(1.0)
    assert tilt.normalised[-1] < tilt.normalised[2] < 1.0
    assert noise.normalised[0] == pytest.approx(1.0)
    assert noise.normalised[-1] < 0.8


def test_every_dial_is_measured_where_there_is_no_gap():
    from isthmus.gaps import KINDS

    for dial, values in DIALS.items():
        assert KINDS[dial].neutral in values
        assert all(KINDS[dial].admits(value) for value in values)


def test_figures_and_plot_are_written(tmp_path, capsys):
    main(["policy", "sensitivity", "reacher", "--dials", "tilt", "--episodes", "5", "--out", str(tmp_path), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "reacher-sensitivity.json").read_text()) == figures
    assert [point["value"] for point in figures["curves"][0]["points"]] == list(DIALS["tilt"])
    assert (tmp_path / "reacher-sensitivity.svg").read_text().startswith("<?xml")
