"""A policy that is told what was identified: what it is told, what it keeps, and when it is a candidate."""

import dataclasses

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import Rehearsal
from isthmus.core import History, Mlp, Problem, Trajectory, act, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import Unadapted
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.robots import load_task
from isthmus.sysid.quantities import Quantities
from isthmus.transfer.source.source import conditioned_for, stand_in_for

TASK = load_task("reacher")
EXPERT, SPEC = load_expert(TASK), TASK.robot_model.spec
NAMES = Quantities(TASK.robot_model).names


def telling():
    """Its actions are the first two of the quantities that it is told, and nothing else."""
    size = EXPERT.network.input_size
    first = np.zeros((size + 2, 2), np.float32)
    first[size:] = np.eye(2)
    network = Mlp(
        (first, np.eye(2, dtype=np.float32)),
        (np.full(2, 100, np.float32), np.full(2, -100, np.float32)),
        "relu",
        np.zeros(size + 2),
        np.ones(size + 2),
        np.zeros(2),
        np.ones(2),
    )
    masses = tuple(name for name in NAMES if name.startswith("mass"))[:2]
    return ConditionedPolicy(network, masses, -np.ones(2) * 3, np.ones(2) * 3, EXPERT.see)


def source(conditioned=telling, **others):
    return Source(
        EXPERT,
        TASK.source(),
        TASK.unclamped(2),
        SPEC,
        0,
        robot_model=TASK.robot_model,
        conditioned=conditioned,
        **others,
    )


def recorded(gap, steps=150):
    """A robot behind a gap, at random."""
    world, rng = TASK.target(Gap.parse(gap)), stream(0)
    seen, done = [world.reset(rng)[0]], []
    for _ in range(steps):
        step = world.step(rng.uniform(-1, 1, (1, 2)))
        seen.append(step.observations[0])
        done.append(step.applied[0])
    observations, applied = np.array(seen), np.array(done)
    expected = observations[1:]
    return [[Trajectory(observations, applied, applied, applied, expected)]]


def test_the_policy_is_told_what_was_identified(tmp_path):
    method, window = make_method("conditioned", source(), MethodSettings()), History.of(TASK.source(3).reset(stream(0)))
    assert isinstance(method.policy(), Unadapted)
    method.learn(recorded("mass=1.5"), 0, lambda *_: None)
    told = act(method.policy(), window)[0]
    np.testing.assert_allclose(told, np.log(1.5), atol=0.1)
    method.state().write(tmp_path / "model.npz")
    again = make_method("conditioned", source(conditioned=lambda: pytest.fail("asked again")), MethodSettings())
    again.restore(MethodState.read(tmp_path / "model.npz", again.kind))
    np.testing.assert_array_equal(act(again.policy(), window)[0], told)


def test_auto_takes_it_where_it_does_best_and_only_where_there_is_one():
    def rehearsed(policy, _history, _part):
        return np.full(16, 0.97 if isinstance(policy, FinetunedPolicy) else 0.0)

    def always(score):
        return lambda _part: np.full(16, score)

    rehearsal = Rehearsal(rehearsed, source=always(1.0), zero=always(0.0))
    told = source(rehearsal=lambda *_known, **_how: rehearsal)
    method = make_method("auto", told, MethodSettings())
    assert method.learn(recorded("mass=1.5"), 0, lambda *_: None).chosen == "conditioned"
    again = make_method("auto", told, MethodSettings())
    again.restore(method.state())
    without = make_method("auto", dataclasses.replace(told, conditioned=None), MethodSettings())
    assert "conditioned" not in without.learn(recorded("mass=1.5"), 0, lambda *_: None).predicted_scores


def test_auto_takes_the_robust_policy_where_it_does_best_and_keeps_its_network(tmp_path):
    robust = dataclasses.replace(EXPERT, network=dataclasses.replace(EXPERT.network, input_clip=0.5))

    def rehearsed(policy, _history, _part):
        return np.full(16, 0.97 if isinstance(policy, FinetunedPolicy) else 0.0)

    rehearsal = Rehearsal(rehearsed, source=lambda _part: np.ones(16), zero=lambda _part: np.zeros(16))
    ours = source(conditioned=None, rehearsal=lambda *_known, **_how: rehearsal, stand_in=lambda: robust)
    method = make_method("auto", ours, MethodSettings())
    assert method.learn(recorded("mass=1.5"), 0, lambda *_: None).chosen == "robust"
    method.state().write(tmp_path / "auto.npz")
    again = make_method("auto", dataclasses.replace(ours, stand_in=None), MethodSettings())
    again.restore(MethodState.read(tmp_path / "auto.npz", again.kind))
    window = History.of(TASK.source(3).reset(stream(0)))
    np.testing.assert_array_equal(act(again.policy(), window)[0], act(robust, window)[0])
    assert not np.array_equal(act(robust, window)[0], act(EXPERT, window)[0])


def test_a_gait_of_its_own_is_not_held_against_it(monkeypatch):
    """What it does is far from the source's trajectory, and is meant to be."""
    monkeypatch.setattr("isthmus.adapt.auto.method.surely_closer", lambda *_known: True)

    def rehearsed(policy, _history, _part):
        return np.full(16, 0.97 if isinstance(policy, FinetunedPolicy) else 0.0)

    rehearsal = Rehearsal(rehearsed, source=lambda _part: np.ones(16), zero=lambda _part: np.zeros(16))
    method = make_method("auto", source(rehearsal=lambda *_known, **_how: rehearsal), MethodSettings())
    rounds = [method.learn(recorded("mass=1.5") * episodes, episodes, lambda *_: None) for episodes in (1, 2)]
    assert [one.chosen for one in rounds] == ["conditioned", "conditioned"]


def test_a_task_without_such_a_policy_is_refused():
    with pytest.raises(Problem, match="policy train TASK --conditioned"):
        make_method("conditioned", source(conditioned=None), MethodSettings())


def test_another_policy_than_the_expert_gets_none(monkeypatch, tmp_path):
    (tmp_path / "there.npz").write_bytes(b"")
    monkeypatch.setattr("isthmus.transfer.source.source.conditioned_path", lambda _name: tmp_path / "there.npz")
    assert conditioned_for(TASK, EXPERT) is not None
    other = dataclasses.replace(EXPERT, network=dataclasses.replace(EXPERT.network, input_clip=3.0))
    assert conditioned_for(TASK, other) is None
    monkeypatch.setattr("isthmus.transfer.source.source.robust_path", lambda _name: tmp_path / "there.npz")
    assert stand_in_for(TASK, EXPERT) is not None
    assert stand_in_for(TASK, other) is None
    monkeypatch.setattr("isthmus.transfer.source.source.conditioned_path", lambda _name: tmp_path / "absent.npz")
    assert conditioned_for(TASK, EXPERT) is None
