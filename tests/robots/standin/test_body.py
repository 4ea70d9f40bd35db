"""A simulated robot obeys for as long as it is told to, and then holds by itself."""

import re
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.hardware.goal import Goal
from isthmus.robots import load_task
from isthmus.robots.standin.body import PATIENCE, Body

PAGE = Path(__file__).parents[3] / "docs" / "your-robot.md"


@pytest.fixture(scope="module")
def lamp(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "lamp.py"
    path.write_text(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])
    return load_task(str(path))


def command(values, seconds=0.02, names=("shoulder", "elbow")):
    return Goal("", names, ((seconds, np.array(values, dtype=np.float64)),), 0.0)


def run(body, seconds):
    for _ in range(round(seconds / body.period)):
        body.step()


def test_it_is_held_until_it_is_commanded(lamp):
    body = Body(lamp, Gap())
    before = body.positions
    run(body, 0.5)
    np.testing.assert_array_equal(body.positions, before)
    assert body.follow(command([20.0, 0.0]))
    run(body, 0.1)
    assert np.abs(body.positions - before).max() > 1e-3


def test_it_holds_by_itself_when_commands_cease(lamp):
    body = Body(lamp, Gap())
    body.follow(command([10.0, 3.0]))
    run(body, 0.02 + PATIENCE / 2)
    assert not body.held
    run(body, PATIENCE)
    assert body.held
    run(body, 0.5)
    still = body.positions
    run(body, 0.5)
    np.testing.assert_allclose(body.positions, still, atol=1e-6)
    assert np.abs(body.velocities).max() < 1e-6


def test_it_takes_joints_by_name_and_no_more_than_its_limits(lamp):
    bodies = [Body(lamp, Gap()) for _ in range(3)]
    bodies[0].follow(command([25.0, -12.0]))
    bodies[1].follow(command([-12.0, 25.0], names=("elbow", "shoulder")))
    bodies[2].follow(command([1e9, -1e9]))
    for body in bodies:
        run(body, 0.05)
    np.testing.assert_array_equal(bodies[0].positions, bodies[1].positions)
    np.testing.assert_array_equal(bodies[0].positions, bodies[2].positions)


@pytest.mark.parametrize(
    "goal",
    [
        command([np.nan, 0.0]),
        command([1.0]),
        command([1.0, 2.0], seconds=np.inf),
        command([1.0, 2.0], names=("shoulder", "wrist")),
        Goal("", ("shoulder", "elbow"), (), 0.0),
    ],
)
def test_what_cannot_be_obeyed_is_refused(lamp, goal):
    body = Body(lamp, Gap())
    assert not body.follow(goal)
    assert body.held


def test_a_gap_makes_it_another_robot(lamp):
    same, heavy = Body(lamp, Gap()), Body(lamp, Gap.parse("mass:upper=1.8"))
    for body in (same, heavy):
        body.follow(command([0.0, 0.0], seconds=0.3))
        run(body, 0.3)
    assert np.abs(same.positions - heavy.positions).max() > 0.01
    with pytest.raises(Problem, match="model only"):
        Body(lamp, Gap.parse("delay=1"))
