"""The tutorial is run as it stands."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import main
from isthmus.core import Problem
from isthmus.robots import load_task
from isthmus.transfer import Config, Result, RunFolder, run_transfer

PAGE = (Path(__file__).parents[1] / "docs" / "your-robot.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CHECK, COMMAND, DRY, REAL, UP, CROSS = re.findall(r"```console\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


def test_the_lamp_crosses_its_gap(folder, request):
    main(shlex.split(COMMAND)[1:])
    result = Result.load(folder / "runs" / "lamp" / "result.json")
    assert result.normalised_unadapted < 0.95
    assert result.normalised_adapted > 0.97
    page = (folder / "runs" / "lamp" / "report.html").read_text(encoding="utf-8")
    request.getfixturevalue("drawing")
    assert "data:video/mp4;base64," in page, re.search(r'id="no-video">(.*?)</p>', page)[1]


def test_the_lamp_passes_its_checks(folder, capsys):
    main(shlex.split(CHECK)[1:])
    said = capsys.readouterr().out
    assert "FAILED" not in said
    assert "restore undoes observe" in said


def test_auto_makes_up_for_a_large_loss_that_is_small_beside_doing_nothing(folder):
    config = Config("lamp.py", "mass:upper=1.08", "auto", samples=500, evaluation_episodes=50)
    result = run_transfer(config, RunFolder(folder / "run"), traces=False)
    assert result.normalised_unadapted > 0.99
    assert result.relative_loss["unadapted"] > 0.3
    assert result.chosen != "unadapted"
    assert result.recovered > 0.9
    written = json.loads((folder / "run" / "result.json").read_text())
    assert written["recovered"] == result.recovered
    assert written["relative_loss"] == result.relative_loss
    assert written["loss_in_stds"]["unadapted"] > 0.5
    assert Result.load(folder / "run" / "result.json") == result


DRIVER = """
from pathlib import Path

import numpy as np

from isthmus.gaps import Gap
from isthmus.robots import load_task


class Driver:
    def __init__(self):
        self.lamp = load_task("lamp.py").target(Gap.parse("mass:upper=1.8"))
        self.action = np.zeros(2)

    def move_to(self, start):
        self.lamp.reset(np.random.default_rng(0))
        return self.lamp.place(np.append(start, [0.0, 0.0])[None])[0]

    def command(self, action):
        self.action = action

    def read_after_period(self):
        return self.lamp.step(self.action[None]).observations[0]

    def brake(self):
        with Path("calls").open("a") as calls:
            calls.write("brake ")

    def disconnect(self):
        with Path("calls").open("a") as calls:
            calls.write("disconnect ")
"""


@pytest.fixture
def bench(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "lamp_driver.py").write_text(DRIVER, encoding="utf-8")
    (folder / "my_lamp_env.py").write_text(BLOCKS[1], encoding="utf-8")
    yield folder
    sys.modules.pop("lamp_driver", None)


def test_the_lamp_crosses_to_an_environment(bench):
    main([*shlex.split(REAL)[1:], "--out", "runs/real", "--no-video", "--yes", "--safety.overrun", "100"])
    result = Result.load(bench / "runs" / "real" / "result.json")
    assert result.gap == "my_lamp_env.py"
    assert result.normalised_unadapted < 0.95
    assert result.normalised_adapted > 0.97
    steps = result.target_steps
    assert (steps["collection"], steps["evaluation"], steps["traces"]) == (600, 1000, 200)
    assert (bench / "calls").read_text().endswith("brake disconnect ")


def test_what_the_lamp_will_be_asked_to_do_is_said_before(bench, capsys):
    main(shlex.split(DRY)[1:])
    told = capsys.readouterr().out
    [promised] = re.findall(r'It prints "(.*?)"', PAGE, re.DOTALL)
    assert promised in told
    assert not (bench / "calls").exists()
    assert not (bench / "runs").exists()


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
