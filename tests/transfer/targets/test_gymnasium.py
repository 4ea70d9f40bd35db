"""Somebody's own environment as the target: here Gymnasium's, with a motor that is too weak."""

import json

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.report import write_report
from isthmus.transfer import Config, RunFolder, run_transfer

WEAK = """
import gymnasium
import numpy as np

def make_env():
    env = gymnasium.make("HalfCheetah-v5", max_episode_steps=60)
    return gymnasium.wrappers.TransformAction(env, lambda action: 0.5 * action, env.action_space)
"""
TINY = {
    "method": "inverse",
    "samples": 50,
    "round_samples": 50,
    "settings": MethodSettings(fit=FitSettings(epochs=3)),
    "evaluation_episodes": 2,
}


@pytest.fixture(autouse=True)
def _few_episodes_of_the_source(monkeypatch):
    monkeypatch.setattr("isthmus.transfer.targets.gymnasium.SOURCE_EPISODES", 10)


def config(environment, **changes):
    return Config("half-cheetah", environment=str(environment), **(TINY | changes))


def test_an_environment_can_be_crossed_to(tmp_path):
    file = tmp_path / "weak.py"
    file.write_text(WEAK)
    folder = RunFolder(tmp_path / "run")
    result = run_transfer(config(file), folder)
    assert result.samples == 50
    assert result.gap == str(file)
    assert write_report(folder, video=False).exists()
    again = run_transfer(config(file), folder, resume=True)
    assert again == result


def test_an_environment_like_the_source_scores_like_the_source(tmp_path):
    result = run_transfer(config("HalfCheetah-v5", method="unadapted"), RunFolder(tmp_path / "run"))
    assert result.normalised_unadapted == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no make_env()"),
        ("def make_env(): return 3", "has no make_env()"),
        ("import gymnasium\ndef make_env(): return gymnasium.make('Pendulum-v1')", "6 actuators"),
    ],
)
def test_a_file_without_a_fitting_environment_is_refused(tmp_path, content, message):
    file = tmp_path / "mine.py"
    file.write_text(content)
    with pytest.raises(Problem, match=message.replace("(", "\\(").replace(")", "\\)")):
        run_transfer(config(file), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["Nonsense-v7", "HalfCheetah-v99", "not_a_module:Robot-v0", "missing.py"])
def test_an_environment_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(Problem, match="environment"):
        run_transfer(config(name), RunFolder(tmp_path / "run"))
    assert json.dumps(sorted(path.name for path in tmp_path.iterdir())) == "[]"
