import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import Problem
from isthmus.io import read_json
from isthmus.vision.localiser.evaluate import make_trials, score
from isthmus.vision.localiser.onnx import load_localiser
from isthmus.vision.localiser.settings import COARSE, CROP, FACTS, RESULTS, read_settings
from isthmus.vision.localiser.shipped import SHIPPED, localiser_folder, shipped_names
from isthmus.vision.localiser.train import Training
from isthmus.vision.marks import png

NAMES = pytest.mark.parametrize("name", shipped_names())


def test_a_folder_comes_before_what_ships_under_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert localiser_folder(Path("table-cube")) == SHIPPED / "table-cube"
    assert localiser_folder(Path("other")) == Path("other")
    (tmp_path / "table-cube").mkdir()
    assert localiser_folder(Path("table-cube")) == Path("table-cube")
    with pytest.raises(Problem, match="or name one that ships \\(table-cube"):
        load_localiser(Path("tabel-cube"))


@NAMES
def test_what_ships_is_small_and_says_how_it_was_made(name):
    files = {one.name: one.stat().st_size for one in (SHIPPED / name).iterdir()}
    assert files.keys() >= {COARSE, CROP, FACTS, RESULTS, "config.json"}
    assert sum(files.values()) < 6e6
    results = read_json(SHIPPED / name / RESULTS)
    assert results["command"].startswith("isthmus vision train ")
    assert results["training"]["images"] == results["images"] > 0
    assert results["training"]["core_minutes"] > 0
    assert results["training"]["commit"]
    assert results["commit"]
    assert results["settings"]["seed"] == 0
    assert results["renderings"]["alone"]["n"] > 0


@NAMES
@pytest.mark.usefixtures("graphics")
def test_what_ships_finds_a_lone_object(name, tmp_path, capsys):
    localiser, _ = load_localiser(Path(name))
    settings = read_settings(Path(name))
    trials = make_trials(settings.scene, settings.randomise, settings.frame, 7, seed=11, conditions=("alone",))
    assert np.median([one.error for one in score(localiser, trials)]) < 0.02
    (tmp_path / "picture.png").write_bytes(png(trials[0].picture))
    main(["vision", "locate", name, str(tmp_path / "picture.png"), "--json"])
    assert len(json.loads(capsys.readouterr().out)) == 1
    main(["vision", "locate", name, str(tmp_path / "picture.png")])
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("picture.png")]
    assert f"{localiser.facts.height:.3f}" in row


@NAMES
def test_training_begins_with_what_ships(name):
    settings = read_settings(Path(name))
    begun, scratch = Training(replace(settings, start=name)), Training(settings)
    for part, network in begun.networks.items():
        other = scratch.networks[part].state_dict()
        assert any(not np.array_equal(value, other[key]) for key, value in network.state_dict().items())
