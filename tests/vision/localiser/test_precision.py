import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from isthmus.core import Problem
from isthmus.io import load_arrays
from isthmus.vision.localiser import precision
from isthmus.vision.localiser import train as training
from isthmus.vision.localiser.precision import autocast, resolved
from isthmus.vision.localiser.run import trained_networks
from isthmus.vision.localiser.settings import CHECKPOINT, TrainSettings
from isthmus.vision.localiser.train import train
from isthmus.vision.localiser.weights import KIND
from isthmus.vision.randomise import Randomise
from isthmus.vision.stage.scene import SceneFile

SMALL = TrainSettings(SceneFile("table", "cube"), Randomise(textures=8), images=8, batch=4, widths=(4, 4, 4, 4), seed=1)


@pytest.mark.usefixtures("graphics")
def test_training_in_bfloat16_keeps_weights_in_float32_and_can_go_on_in_float32(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "TRIALS", 1)
    brief = replace(SMALL, precision="bfloat16")
    train(brief, tmp_path / "brief", 1, 1, lambda _: None)
    train(SMALL, tmp_path / "full", 1, 1, lambda _: None)
    (found, _), (full, _) = (load_arrays(tmp_path / name / CHECKPOINT, KIND) for name in ("brief", "full"))
    weights = {name for name in full if full[name].dtype == np.float32}
    assert weights == {name for name in found if found[name].dtype == np.float32}
    moved = [name for name in weights if not np.array_equal(found[name], full[name])]
    assert moved  # it was in use
    for name in weights:
        assert np.allclose(found[name], full[name], atol=0.05, rtol=0.2), name
    *_, effort = trained_networks(brief, tmp_path / "brief")
    assert effort.precision == "bfloat16"
    longer = replace(SMALL, images=12)
    train(longer, tmp_path / "brief", 1, 1, lambda _: None)
    *_, effort = trained_networks(longer, tmp_path / "brief")
    assert (effort.images, effort.precision) == (12, "float32")


@pytest.mark.parametrize(("code", "wanted"), [(0, "bfloat16"), (1, "float32"), (-4, "float32")])
def test_auto_takes_bfloat16_if_a_trial_in_another_process_finds_it_faster(code, wanted, monkeypatch):
    begun = []

    def run(command, **options):
        begun.append(command)
        return subprocess.CompletedProcess(command, code)

    monkeypatch.setattr(precision.subprocess, "run", run)
    assert resolved("float32") == "float32"
    assert resolved("bfloat16") == "bfloat16"
    assert not begun
    assert resolved("auto") == wanted
    assert begun[0][0] == sys.executable


def test_a_trial_that_hangs_means_float32(monkeypatch):
    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(precision.subprocess, "run", hang)
    assert resolved("auto") == "float32"


def test_the_trial_compares_the_two_formats():
    assert 0.01 < precision.speed_up() < 100
    with autocast("bfloat16"):
        assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype == torch.bfloat16
    with autocast("float32"):
        assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype == torch.float32


def test_an_unknown_format_is_refused():
    with pytest.raises(Problem, match=r"unknown precision 'float8'.*bfloat16"):
        replace(SMALL, precision="float8")
