"""The frozen backbone: what it computes, that it stays as it is, and what is said when its weights are not there."""

from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch

from isthmus.core import Problem
from isthmus.vision.localiser import backbone
from isthmus.vision.localiser.backbone import EPSILON, SameConv, _fold, load_backbone
from isthmus.vision.localiser.settings import TrainSettings
from isthmus.vision.localiser.train import Training
from isthmus.vision.stage.scene import SceneFile

needs_weights = pytest.mark.skipif(find_spec(backbone.PACKAGE) is None, reason="isthmus[backbone] is not installed")
SETTINGS = TrainSettings(SceneFile("table", "cube"), widths=(4, 8, 8, 8), backbone=True)


def test_a_convolution_and_its_normalisation_are_folded_into_one():
    plain, norm = torch.nn.Conv2d(3, 5, 3, padding=1, bias=False), torch.nn.BatchNorm2d(5, eps=EPSILON)
    torch.nn.init.uniform_(norm.weight, 0.5, 2)
    torch.nn.init.normal_(norm.bias)
    torch.nn.init.normal_(norm.running_mean)
    torch.nn.init.uniform_(norm.running_var, 0.5, 2)
    norm.eval()
    folded = SameConv(3, 5, 3)
    _fold(
        folded,
        {f"c.{k}": v for k, v in plain.state_dict().items()} | {f"n.{k}": v for k, v in norm.state_dict().items()},
        "c",
        "n",
    )
    x = torch.randn(2, 3, 9, 7)
    torch.testing.assert_close(folded(x), norm(plain(x)))


@pytest.mark.parametrize(("size", "expected"), [((17, 22), (9, 11)), ((16, 24), (8, 12))])
def test_sizes_are_halved_and_rounded_up(size, expected):
    assert SameConv(1, 1, 5, 2)(torch.zeros(1, 1, *size)).shape[2:] == expected


@needs_weights
def test_features_are_at_strides_of_4_8_and_16():
    shapes = [tuple(one.shape) for one in load_backbone()(torch.rand(1, 3, 96, 128) * 2 - 1)]
    assert shapes == [(1, 24, 24, 32), (1, 40, 12, 16), (1, 112, 6, 8)]


@needs_weights
def test_training_leaves_the_backbone_as_it_is():
    run = Training(SETTINGS)
    kept = {name: one.clone() for name, one in run.networks["crop"].named_parameters()}
    places, nothing, _ = run.networks["crop"](torch.randint(0, 255, (2, 96, 96, 3), dtype=torch.uint8))
    (places.sum() + nothing.sum()).backward()
    run.optimiser.step()
    moved = {name for name, one in run.networks["crop"].named_parameters() if not torch.equal(one, kept[name])}
    assert moved
    assert not any("backbone" in name for name in moved)


def test_missing_weights_are_named(monkeypatch):
    monkeypatch.setattr(backbone, "find_spec", lambda _name: None)
    with pytest.raises(Problem, match=r"isthmus\[backbone\]"):
        Training(replace(SETTINGS, seed=1))
