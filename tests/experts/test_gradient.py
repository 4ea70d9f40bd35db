import dataclasses

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from isthmus.core import Problem, stream
from isthmus.evaluate import evaluate
from isthmus.experts import gradient
from isthmus.experts.make import make_expert
from isthmus.experts.settings import TrainSettings
from isthmus.experts.shipped import expert_path
from isthmus.policies import NetworkPolicy
from isthmus.policies.network import read_network
from isthmus.robots import load_task

TASK = load_task("reacher")
START = read_network(expert_path("reacher"))
LITTLE = TrainSettings(algorithm="gradient", steps=2 * 3 * 50 * 14, worlds=3, rate=1e-4)


def returns(network):
    return evaluate(TASK, TASK.source(3), NetworkPolicy(network), 1, stream(4)).returns.mean()


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_gradient_is_that_of_the_return(layer, monkeypatch):
    monkeypatch.setattr(gradient, "LARGEST", 1e9)
    learner = gradient._Learner(START, None, 1e-9)
    learner.step(gradient._episodes(TASK, learner, 3, stream(4)), rate=1e-9)
    found = -learner._weights[layer].grad.numpy()
    place = np.unravel_index(np.abs(found).argmax(), found.shape)

    def moved(by):
        weights = [weight.astype(np.float64) for weight in START.weights]
        weights[layer][place] += by
        return dataclasses.replace(START, weights=tuple(weight.astype(np.float32) for weight in weights))

    step = 1e-2 / max(np.abs(found[place]), 1.0)
    numeric = (returns(moved(step)) - returns(moved(-step))) / (2 * step)
    assert found[place] == pytest.approx(numeric, rel=0.05)


def test_a_training_by_gradient_is_written_down_and_goes_on(tmp_path):
    path = tmp_path / "mine.npz"
    made = make_expert("reacher", path, LITTLE, 0, 5, lambda *_: None, start=expert_path("reacher"))
    assert "derivatives" in made["algorithm"]
    assert made["steps"] == LITTLE.steps
    before = read_network(path)
    longer = dataclasses.replace(LITTLE, steps=2 * LITTLE.steps)
    again = make_expert("reacher", path, longer, 0, 5, lambda *_: None, resume=True)
    assert [stage["from"] for stage in again["stages"]] == [0, LITTLE.steps]
    assert any((a != b).any() for a, b in zip(before.weights, read_network(path).weights, strict=True))


def test_the_gradient_needs_a_policy_and_a_robot_that_moves_smoothly(tmp_path):
    with pytest.raises(Problem, match="--start"):
        make_expert("reacher", tmp_path / "a.npz", LITTLE, 0, 5, lambda *_: None)
    with pytest.raises(Problem, match="end early"):
        make_expert("hopper", tmp_path / "b.npz", LITTLE, 0, 5, lambda *_: None, start=expert_path("hopper"))
