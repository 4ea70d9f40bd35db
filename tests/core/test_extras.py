"""Packages that not everybody has: what lacks one says which extra to install."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.core.extras import EXTRAS, missing_extra, require

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
HEAVY = ("torch", "plotly", "jinja2", "imageio", "scipy", "matplotlib", "onnx", "stable-baselines3")
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(sys.argv[1].split(","))
sys.meta_path.insert(0, Blocker())
from isthmus.cli import main
main(sys.argv[2:])
"""


def test_nothing_heavy_is_needed_to_act():
    needed = PROJECT["dependencies"]
    assert not [one for one in needed if one.startswith(HEAVY)]


def test_every_extra_that_is_named_exists_and_is_part_of_all():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = everything.removeprefix("isthmus[").removesuffix("]").split(",")
    assert set(named) == set(extras) - {"all", "dev", "docs"}
    assert set(EXTRAS.values()) <= set(named)


def test_a_module_of_no_extra_is_nobodys_problem():
    assert missing_extra("no_such_module") is None
    assert missing_extra(None) is None
    assert "pip install 'isthmus[learn]'" in str(missing_extra("torch.nn"))


def test_what_will_be_needed_is_asked_for_before_anything_moves(monkeypatch):
    monkeypatch.setattr("isthmus.core.extras.find_spec", lambda name: None if name == "torch" else name)
    require(("numpy", "stable_baselines3"))
    with pytest.raises(Problem, match="this needs torch, which is not installed"):
        require(("stable_baselines3", "torch"))


def run(blocked, *words):
    command = [sys.executable, "-c", BLOCKED, ",".join(blocked), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_command_that_lacks_an_extra_says_which(tmp_path):
    done = run(("torch",), "bench")
    assert done.returncode == 2
    assert done.stderr == "isthmus: this needs torch, which is not installed: pip install 'isthmus[learn]'\n"


def test_help_needs_no_extra():
    done = run(("torch", "plotly", "jinja2", "imageio_ffmpeg", "scipy", "matplotlib", "onnxruntime", "mcap"), "--help")
    assert done.returncode == 0, done.stderr
    assert "deploy" in done.stdout
