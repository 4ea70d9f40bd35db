import os
import subprocess
import sys

import pytest

from isthmus.core import Problem
from isthmus.report.cord import NAME, Tie, load_cord, save_cord
from isthmus.report.video import backends

CORD = (Tie("world", (0.0, 0.0, 0.1)), Tie("fingertip", (0.0, 0.0, 0.0)))


def test_a_cord_is_read_as_it_was_written(tmp_path):
    save_cord(tmp_path, CORD)
    assert load_cord(tmp_path) == CORD


def test_a_run_without_a_cord_has_none(tmp_path):
    assert load_cord(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"ties": []}',
        '{"ties": [{"body": "world"}, {"body": "world"}]}',
        '{"ties": [{"body": "world", "point": [0, 0]}, {"body": "world", "point": [0, 0, 0]}]}',
        '{"ties": [{"body": "world", "point": [0, 0, NaN]}, {"body": "world", "point": [0, 0, 0]}]}',
    ],
)
def test_a_damaged_cord_is_refused(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(Problem):
        load_cord(tmp_path)


DRAW = """
from contextlib import closing

import numpy as np
from isthmus.report.cord import Tie
from isthmus.report.scene import Scene
from isthmus.robots import load_task

task = load_task("reacher")
model = task.robot_model.model
hung = Tie("world", (-0.1, 0.1, 0.02)), Tie("fingertip", (0.0, 0.0, 0.0))
for cord in (None, hung):
    with closing(Scene(model, task.camera, 200, source=model, cord=cord)) as scene:
        picture = scene.picture(np.zeros(model.nq)).astype(int)
    orange = (picture[..., 0] > 180) & (picture[..., 1] > 80) & (picture[..., 1] < 200) & (picture[..., 2] < 110)
    print(orange.sum())
"""


def test_a_cord_is_drawn():
    """In a process of its own: a graphics driver may take the whole process down."""
    for backend in backends(os.environ, sys.platform):
        environment = {**os.environ, "MUJOCO_GL": backend}
        drawn = subprocess.run([sys.executable, "-c", DRAW], env=environment, capture_output=True, check=False)
        if drawn.returncode == 0:
            without, with_cord = map(int, drawn.stdout.split())
            assert with_cord > without + 100
            return
    pytest.skip("there is nothing to draw with")
