"""A blind policy is taught, written, and read by everybody."""

import json

import numpy as np
import pytest

from isthmus.core import History, stream
from isthmus.experiments.anymal.blind import Lessons
from isthmus.experiments.anymal.learner import Settings
from isthmus.experiments.blind.taught import Teaching, teach_blind
from isthmus.experts.shipped import shipped_policy
from isthmus.robots import load_task
from isthmus.transfer import PolicyFile, source_policy


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    folder, said = tmp_path_factory.mktemp("blind"), []
    teaching = Teaching(
        teacher=Settings(robots=4, steps=4, updates=1, stages=1, hidden=(8,)),
        student=Lessons(robots=4, steps=6, lessons=2, epochs=1, last_epochs=1, hidden=(8,)),
        judged=2,
    )
    return teach_blind(folder, teaching, said.append), teaching, said


def test_a_policy_is_written_with_its_spec_and_how_it_was_made(taught):
    path, _, said = taught
    assert [text.split(":")[0] for text in said] == [
        "teacher, stage 1 of 1",
        "student, lesson 1 of 2",
        "student, lesson 2 of 2",
    ]
    about = json.loads((path.parent / "policy.json").read_text())
    assert about["command"] == "isthmus experiment blind --teach --seed 0"
    assert set(about["evaluation"]) == {"teacher", "student"}
    policy = source_policy(load_task("anymal"), PolicyFile(str(path), observation_spec=_spec(path)))
    assert policy.shown.size == 45


def test_what_was_taught_is_not_taught_again(taught):
    path, teaching, said = taught
    before = path.stat().st_mtime_ns
    assert teach_blind(path.parent, teaching, said.append) == path
    assert path.stat().st_mtime_ns == before
    assert len(said) == 3


def test_the_policy_that_ships_walks_without_seeing_its_velocity():
    task, path = load_task("anymal"), shipped_policy("anymal-blind")
    policy = source_policy(task, PolicyFile(str(path), observation_spec=_spec(path)))
    assert {term.kind for term in policy.spec.terms}.isdisjoint({"base_lin_vel", "base_height", "phase"})
    world = task.source(4)
    seen = world.reset(stream(0, "test"))
    state = policy.initial_state(4)
    ended = np.zeros(4, np.bool_)
    for _ in range(150):
        actions, state = policy.act(History.of(seen), state)
        step = world.step(actions)
        seen, ended = step.observations, ended | step.ended
    assert not ended.any()
    assert (world.fields["qpos"][:, 0] > 0.2).all()


def test_a_name_is_shipped_only_if_there_is_such_a_policy():
    assert shipped_policy("anymal-blind").name == "anymal-blind.onnx"
    assert shipped_policy("hopper-blind") is None
    assert shipped_policy("../weights/anymal-blind") is None


def _spec(path):
    return str(path.with_suffix(".observation.toml"))
