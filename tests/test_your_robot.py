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
COMMAND, REAL = re.findall(r"```console\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


def test_the_lamp_crosses_its_gap(folder):
    main(shlex.split(COMMAND)[1:])
    result = Result.load(folder / "runs" / "lamp" / "result.json")
    assert result.normalised_unadapted < 0.95
    assert result.normalised_adapted > 0.97
    page = (folder / "runs" / "lamp" / "report.html").read_text(encoding="utf-8")
    missing = re.search(r'id="no-video">(.*?)</p>', page)
    if missing and "nothing to draw off-screen" in missing[1]:
        pytest.skip(missing[1])
    assert "data:video/mp4;base64," in page, missing[1]


ENVIRONMENT = """
import gymnasium
import numpy as np

from isthmus.gaps import Gap
from isthmus.tasks import load_task

TASK = load_task("lamp.py")
SPEC = TASK.embodiment.spec


class RealLamp(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (SPEC.observation_size,))
    action_space = gymnasium.spaces.Box(SPEC.action_low, SPEC.action_high, dtype=np.float64)

    def __init__(self):
        self.lamp, self.age = TASK.target(Gap.parse("mass:upper=1.8")), 0

    def reset(self, *, seed=None, options=None):
        self.age = 0
        return self.lamp.reset(np.random.default_rng(seed))[0], {}

    def step(self, action):
        before = TASK.measure(self.lamp.fields).copy()
        step = self.lamp.step(np.asarray(action)[None])
        reward = TASK.paid(before, step.applied, TASK.measure(self.lamp.fields))[0]
        self.age += 1
        return step.observations[0], float(reward), False, self.age >= SPEC.horizon, {}


def make_env():
    return RealLamp()
"""


def test_the_lamp_crosses_to_an_environment(folder):
    (folder / "my_lamp_env.py").write_text(ENVIRONMENT, encoding="utf-8")
    main([*shlex.split(REAL)[1:], "--out", "runs/real", "--no-video"])
    result = Result.load(folder / "runs" / "real" / "result.json")
    assert result.gap == "my_lamp_env.py"
    assert result.normalised_unadapted < 0.95
    assert result.normalised_adapted > 0.97


def test_its_observation_can_be_put_back(folder):
    world = load_task("lamp.py").source(3)
    seen = world.reset(np.random.default_rng(0))
    np.testing.assert_array_equal(world.place(seen), seen)


@pytest.mark.parametrize("content", ["x = 1", "def make_task(): return 3"])
def test_a_file_without_a_robot_is_a_problem(tmp_path, content):
    (tmp_path / "empty.py").write_text(content, encoding="utf-8")
    with pytest.raises(Problem, match=r"make_task\(\)"):
        load_task(str(tmp_path / "empty.py"))
    with pytest.raises(Problem, match="there is no robot"):
        load_task(str(tmp_path / "none.py"))
