"""Each thing that a robot file can get wrong in silence, made on purpose, is found."""

import dataclasses

import numpy as np
import pytest

from isthmus.evaluate.preflight.robot import consistency
from isthmus.experts import load_expert
from isthmus.policies import ZeroPolicy
from isthmus.robots import TASKS, load_task

TASK = load_task("hopper")
BODY = TASK.robot_model
EXPERT = load_expert(TASK)


def swapped_joints(observations, qpos, qvel):
    BODY.restore(observations, qpos, qvel)
    qpos[:, [3, 4]] = qpos[:, [4, 3]]


def forgotten_velocities(observations, qpos, qvel):
    BODY.restore(observations, qpos, qvel)
    qvel[:] = 0.0


def unseen_velocities(fields, out):
    BODY.observe(fields, out)
    out[:, BODY.model.nq :] = 0.0


def one_start_for_all(rng, n):
    qpos, qvel = BODY.start(rng, 1)
    return np.repeat(qpos, n, axis=0), np.repeat(qvel, n, axis=0)


def start_without_rows(rng, n):
    qpos, qvel = BODY.start(rng, 1)
    return qpos[0], qvel[0]


def observe_of_the_first(fields, out):
    BODY.observe(fields, out)
    out[:, 1] = fields["qpos"][0, 1]


def changed(**changes):
    return dataclasses.replace(TASK, robot_model=dataclasses.replace(BODY, **changes))


def of_all_rows(history):
    return EXPERT(history) - EXPERT(history).mean(axis=0)


def failed(task, policy=EXPERT):
    return [check.name for check in consistency(task, policy) if not check.passed]


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_robot_that_ships_is_consistent(name):
    pytest.importorskip("gymnasium_robotics") if name.startswith("fetch") else None
    task = load_task(name)
    policy = EXPERT if name == "hopper" else task.policy or ZeroPolicy(task.robot_model.spec.action_size)
    assert failed(task, policy) == []


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (changed(restore=swapped_joints), "restore undoes observe"),
        (changed(restore=forgotten_velocities), "restore undoes observe"),
        (changed(observe=unseen_velocities, restore=forgotten_velocities), "an observation tells the state"),
        (changed(start=one_start_for_all), "start draws n states"),
        (changed(start=start_without_rows), "start draws n states"),
        (changed(observe=observe_of_the_first), "n robots together are as n alone"),
        (changed(ended=lambda fields: fields["qpos"][:, 1] > fields["qpos"][:, 1].mean()), "n robots together"),
        (dataclasses.replace(TASK, score=lambda _b, _c, after: after.sum()), "n robots together are as n alone"),
        (dataclasses.replace(TASK, reward=lambda _b, c, _a: c / 0), "n robots together are as n alone"),
    ],
    ids=[
        "joints swapped",
        "velocities forgotten",
        "velocities unseen",
        "one start for all",
        "start without rows",
        "observe",
        "ended",
        "score",
        "reward",
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mistake_of_a_robot_file_is_found(task, name):
    assert any(one.startswith(name) for one in failed(task))


def test_a_policy_that_mixes_rows_is_found():
    assert failed(TASK, of_all_rows) == ["the policy acts row by row"]


def test_a_policy_that_is_not_repeatable_is_found():
    rng = np.random.default_rng(0)
    checks = consistency(TASK, lambda history: EXPERT(history) + rng.normal(size=(len(history.current), 3)))
    [mixed] = [check for check in checks if not check.passed]
    assert "asked twice about the same" in mixed.measured


def test_the_worst_number_is_named():
    [codec] = [one for one in consistency(changed(restore=swapped_joints), EXPERT) if "restore" in one.name]
    assert codec.measured.startswith(("leg_joint", "foot_joint", "thigh_joint"))
    assert "same order" in codec.remedy
