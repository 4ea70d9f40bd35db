"""The tutorial is run as it stands."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import Problem
from isthmus.tasks import load_task
from isthmus.transfer import Result

PAGE = (Path(__file__).parents[1] / "docs" / "your-robot.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
[COMMAND] = re.findall(r"```console\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


def test_the_lamp_crosses_its_gap(folder):
    main([*shlex.split(COMMAND)[1:], "--no-video"])
    result = Result.load(folder / "runs" / "lamp" / "result.json")
    assert result.normalised_unadapted < 0.95
    assert result.normalised_adapted > 0.97
    assert (folder / "runs" / "lamp" / "report.html").exists()


def test_its_observation_can_be_put_back(folder):
    world = load_task("lamp.py").source(3)
    seen = world.reset(np.random.default_rng(0))
    np.testing.assert_array_equal(world.place(seen), seen)


def test_its_own_environment_is_a_target(folder):
    import gymnasium

    scope = {}
    exec(compile(BLOCKS[1], "your-robot.md", "exec"), scope)
    env = gymnasium.Env()
    env.action_space = gymnasium.spaces.Box(-1, 1, (2,))
    env.reset = lambda **_: (np.zeros(4), {})
    env.step = lambda action: (np.append(action, action), 1.0, False, False, {})
    robot = scope["robot"](env, load_task("lamp.py"))
    robot.reset(np.random.default_rng(0))
    np.testing.assert_allclose(robot.step(np.array([[0.25, 3.0]])).observations, [[0.25, 1.0, 0.25, 1.0]])


@pytest.mark.parametrize("content", ["x = 1", "def make_task(): return 3"])
def test_a_file_without_a_robot_is_a_problem(tmp_path, content):
    (tmp_path / "empty.py").write_text(content, encoding="utf-8")
    with pytest.raises(Problem, match=r"make_task\(\)"):
        load_task(str(tmp_path / "empty.py"))
    with pytest.raises(Problem, match="there is no robot"):
        load_task(str(tmp_path / "none.py"))
