from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import METHODS, MethodSettings, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.settings import CollectSettings, FitSettings
from isthmus.core import History, Problem, act, stream
from isthmus.core.trajectory import rewarded
from isthmus.experts import load_expert
from isthmus.experts.conditioned import Told
from isthmus.experts.finetuner import FINETUNE, PpoFinetuner
from isthmus.gaps import Gap, Ranges
from isthmus.policies import Unadapted
from isthmus.policies.conditioned import ConditionedPolicy
from isthmus.robots import load_task
from isthmus.sim.mujoco_world import _Rows
from isthmus.transfer.collection import ReferenceRollout, collect, observation_scale
from isthmus.transfer.source.source import rehearsal_in, source_cost

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
GAP = Gap.parse("tilt=90")
PRACTISE_LITTLE = replace(FINETUNE, steps=200, worlds=4, batch=50, epochs=1)
TOLD = Told.of(TASK, Ranges.parse("mass=0.5:2"))
CONDITIONED = ConditionedPolicy(TOLD.widened(EXPERT.network), TOLD.names, TOLD.low, TOLD.high, EXPERT.see)
SETTINGS = MethodSettings(history=2, fit=FitSettings(epochs=4))


def source():
    return Source(
        *(EXPERT, TASK.source(), TASK.unclamped(4), TASK.robot_model.spec, 0, source_cost(TASK)),
        robot_model=TASK.robot_model,
        finetuner=lambda policy: PpoFinetuner(TASK, policy, PRACTISE_LITTLE, critic_steps=400),
        robust=lambda: EXPERT,
        conditioned=lambda: CONDITIONED,
        rehearsal=rehearsal_in(TASK, EXPERT, 0),
    )


@pytest.fixture(scope="module")
def episodes():
    scale = observation_scale(EXPERT, TASK.source(4), 1, stream(0, "scale"))
    course = ReferenceRollout(EXPERT, TASK.source(6), 1, scale)
    decider = Unadapted(EXPERT, TASK.source(6))
    robot = TASK.robot(GAP, 6)
    return collect(
        robot, decider, course, CollectSettings(), history=2, length=20, budget=1000, rng=stream(0, "episodes")
    )


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if kind.follows_policy])
def test_before_learning_every_method_that_follows_the_policy_does_what_it_would(name):
    method = make_method(name, source(), SETTINGS)
    history = History.of(TASK.source(3).reset(stream(0, "reset")))
    np.testing.assert_array_equal(act(method.policy(), history)[0], EXPERT(history))


LEARNING = [name for name in METHODS if make_method(name, source(), SETTINGS).needs_target_data]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_commands_what_can_be_done_and_begins_anew_with_every_decider(name):
    method = make_method(name, source(), SETTINGS)
    window = History.of(TASK.source(3).reset(stream(0, "reset")))
    policy = method.policy()
    one, _ = policy.decide(window, policy.initial_state(3))
    assert one.command.shape == one.source.shape == (3, 2)
    assert one.wanted.shape == window.current.shape
    assert all(np.isfinite(part).all() for part in (one.command, one.source, one.wanted))
    np.testing.assert_array_equal(act(method.policy(), window)[0], one.command)


def test_some_methods_learn_and_others_need_not():
    assert set(METHODS) - set(LEARNING) == {"unadapted", "output-error", "gaussian", "robust"}


@pytest.mark.parametrize("name", LEARNING)
def test_what_was_learned_is_saved_and_restored_exactly(name, episodes, tmp_path):
    method = make_method(name, source(), SETTINGS)
    passes = []
    if METHODS[name].sees_reward:
        episodes = [[rewarded(one, -np.square(one.applied).sum(axis=1), ended=False) for one in it] for it in episodes]
    learned = method.learn(episodes, 0, lambda epoch, _loss: passes.append(epoch))
    assert passes == list(range(1, learned.epochs + 1))
    assert len(learned.error) == len(learned.action_std)
    assert len(learned.error) in (0, TASK.robot_model.spec.action_size)
    method.state().write(tmp_path / "model.npz")
    other = make_method(name, source(), SETTINGS)
    other.restore(MethodState.read(tmp_path / "model.npz", other.kind))
    run, k = episodes[0][0], max(method.history, 2)
    window = History(run.observations[None, 3 : 3 + k], run.applied[None, 3 : 2 + k])
    np.testing.assert_array_equal(act(method.policy(), window)[0], act(other.policy(), window)[0])
    assert not isinstance(other.policy(), Unadapted)


@pytest.mark.parametrize(
    "name", ["inverse", "residual-action", "model-inverse", "preview", "pd", "output-error", "gaussian"]
)
def test_a_control_step_of_one_robot_runs_on_one_thread(name, episodes, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(4)))
    method, used = make_method(name, source(), SETTINGS), []
    if method.needs_target_data:
        method.learn(episodes, 0, lambda *_: None)
    policy, k, run = method.policy(), max(method.history, 2), episodes[0][0]
    state = policy.initial_state(1)
    step = _Rows.step

    def watched(rows, *given):
        used.append(rows.batch.nthread)
        step(rows, *given)

    monkeypatch.setattr(_Rows, "step", watched)
    for start in range(3):  # a history that goes on, so that disturbances are followed too
        window = History(run.observations[None, start : start + k], run.applied[None, start : start + k - 1])
        _, state = policy.decide(window, state)
    assert set(used) == {1}


def test_a_refit_goes_on_from_the_model_there_is(episodes):
    method = make_method("inverse", source(), SETTINGS)
    first = method.learn(episodes, 0, lambda *_: None)
    second = method.learn(episodes, 1, lambda *_: None)
    assert second.losses[0][1] == pytest.approx(min(held_out for _, held_out in first.losses), rel=1e-3)


def test_an_unknown_method_lists_the_valid_ones_and_the_nearest():
    names = ", ".join(sorted(METHODS))
    with pytest.raises(Problem, match=rf"unknown method 'invers'.*{names}.*did you mean 'inverse'"):
        make_method("invers", source(), SETTINGS)
