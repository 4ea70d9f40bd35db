"""The stand-in as a process of its own."""

import io
from pathlib import Path

import numpy as np
import pytest

import isthmus
from isthmus.core import Problem
from isthmus.robots.anymal.model import STANCE
from isthmus.robots.anymal.remote import RemoteAnymals
from isthmus.robots.anymal.task import COMMAND, SIZE, Z
from isthmus.robots.anymal.wire import receive, send

ROOT = Path(isthmus.__file__).parent


@pytest.fixture(scope="module")
def robots():
    with RemoteAnymals("first", 2) as running:
        yield running


def test_a_message_arrives_as_it_was_sent():
    stream = io.BytesIO()
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.zeros((0, 4))}
    send(stream, "word", arrays, number=2.5)
    send(stream, "next")
    stream.seek(0)
    word, found, numbers = receive(stream)
    assert (word, numbers) == ("word", {"number": 2.5})
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert receive(stream) == ("next", {}, {})
    assert receive(stream) is None


def test_a_message_that_is_cut_off_is_a_problem():
    stream = io.BytesIO()
    send(stream, "word", {"a": np.arange(6.0)})
    with pytest.raises(Problem, match="cut off"):
        receive(io.BytesIO(stream.getvalue()[:-3]))


def test_it_walks_under_a_command_and_shows_what_the_joints_measure(robots):
    seen = robots.reset(np.array([0.3, 0.7]))
    assert seen.shape == (2, SIZE)
    np.testing.assert_allclose(seen[:, COMMAND], (0.3, 0.7))
    log = robots.log = []
    for _ in range(5):
        seen, ended = robots.step(np.tile(STANCE, (2, 1)))
    robots.log = None
    assert not ended.any()
    assert (seen[:, Z] > 0.35).all()
    assert [one["torque"].shape for one in log] == [(8, 2, 12)] * 5
    assert 1.0 < np.abs(log[-1]["torque"]).mean() < 20.0
    kicked, _ = robots.step(np.tile(STANCE, (2, 1)), np.array([[0.0, 0.0], [0.8, 0.0]]))
    assert kicked[1, 19] - seen[1, 19] > 0.4
    assert abs(kicked[0, 19] - seen[0, 19]) < 0.2


def test_it_plays_what_it_is_given_and_hangs_where_it_is_told_to(robots):
    played = robots.play(np.tile(STANCE, (60, 2, 1)), np.array([True, False]))
    assert played["position"].shape == (60, 2, 12)
    assert played["fresh"][0].all()
    assert not played["fresh"][1:].any()
    standing, hanging = (np.abs(played["torque"][-20:, robot, 2::3]).mean() for robot in (1, 0))
    assert standing > 2 * hanging  # knees carry the robot on the floor only


def test_one_that_ends_is_a_problem_with_a_sentence(capfd):
    with (
        RemoteAnymals("third", 1) as running,
        pytest.raises(Problem, match=r"ended \(exit code 2\) when told to reset"),
    ):
        running.reset(np.array([0.5]))
    assert "choose from first, second" in capfd.readouterr().err


def test_nobody_else_looks_into_it():
    name = "isthmus.robots.anymal.standin"
    for file in ROOT.rglob("*.py"):
        if "standin" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert f"from {name}" not in text, file
            assert f"import {name}" not in text, file
