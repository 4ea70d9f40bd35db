"""Methods that change the policy: what they keep, what they refuse, and who is paid."""

import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.finetune.on_target import Exploring
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import Rehearsal
from isthmus.core import History, Mlp, Problem, act, stream
from isthmus.core.trajectory import RewardedTrajectory
from isthmus.experts import load_expert
from isthmus.policies import NetworkPolicy, Unadapted
from isthmus.policies.finetuner import Trained
from isthmus.robots import load_task
from isthmus.transfer.source.source import finetuner_in, robust_for

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
SPEC = TASK.robot_model.spec


def always(score):
    return lambda _part: np.full(16, score)


@dataclass
class Scripted:
    """Every spell of practice adds one to the first bias; what it is worth is looked up."""

    worths: dict[int, float]
    studied: list[int]
    spell_steps = 100

    def begin(self, _seed):
        return self._trained(0)

    def corrected(self, _correct):
        return self

    def train(self, trained, _seed, progress):
        progress(1, 0.0)
        return self._trained(self.age(trained.network) + 1)

    def worth(self, network, _seed):
        return self.worths[self.age(network)]

    def study(self, trained, runs, _seed):
        self.studied.append(len(runs))
        return self._trained(self.age(trained.network) + 1)

    def age(self, network: Mlp):
        return round(float(network.biases[0][0] - EXPERT.network.biases[0][0]))

    def _trained(self, age):
        biases = (EXPERT.network.biases[0] + np.float32(age), *EXPERT.network.biases[1:])
        return Trained(replace(EXPERT.network, biases=biases), np.full(2, 0.1), {"age": np.array(age)})


def source(practice=None, policy=EXPERT, **others):
    return Source(policy, TASK.source(), TASK.unclamped(2), SPEC, 0, finetuner=practice, **others)


def scripted(name, worths):
    practice = Scripted(worths, [])
    return make_method(name, source(lambda _policy: practice), MethodSettings()), practice


def episodes(count, steps=6):
    rng, made = stream(0), []
    for _ in range(count):
        seen, done = TASK.source(steps + 1).reset(rng), rng.uniform(-0.5, 0.5, (steps, 2))
        made.append([RewardedTrajectory(seen, done, done, done, seen[1:], rewards=np.ones(steps), ended=False)])
    return made


def age(method):
    return method._finetuner.age(method.policy().policy.network)


@pytest.mark.parametrize(
    ("worths", "kept"),
    [({0: 1, 1: 2, 2: 3}, 2), ({0: 1, 1: 3, 2: 2}, 1), ({0: 5, 1: 3, 2: 4}, 0)],
    ids=["last", "middle", "first"],
)
def test_grounding_keeps_the_policy_that_earns_most_in_the_corrected_simulator(worths, kept):
    method, _ = scripted("fine-tune", worths)
    learned = method.learn(episodes(6), 0, lambda *_: None)
    assert age(method) == kept
    assert (learned.epochs, learned.best) == (2, kept)


def test_practice_goes_on_from_what_was_kept():
    method, _ = scripted("fine-tune", {0: 0, 1: 9, 2: 1, 3: 10})
    for number in range(2):
        method.learn(episodes(6), number, lambda *_: None)
    assert age(method) == 3


def test_on_the_target_every_run_is_studied_once_also_after_a_restore(tmp_path):
    method, practice = scripted("rl-on-target", {})
    method.learn(episodes(3), 0, lambda *_: None)
    method.state().write(tmp_path / "model.npz")
    other, again = scripted("rl-on-target", {})
    other.restore(MethodState.read(tmp_path / "model.npz", other.kind))
    other.learn(episodes(5), 1, lambda *_: None)
    assert (practice.studied, again.studied) == ([3], [2])
    assert age(other) == 2
    with pytest.raises(ValueError, match="no new run"):
        other.learn(episodes(5), 2, lambda *_: None)


def test_runs_without_a_reward_are_nothing_to_study(linear_episodes):
    method, _ = scripted("rl-on-target", {})
    with pytest.raises(ValueError, match="whose reward was seen"):
        method.learn(linear_episodes(2, 5, stream(0)), 0, lambda *_: None)


def test_exploration_has_the_spread_it_says_about_the_policys_own_action():
    window = History.of(np.tile(TASK.source().reset(stream(0)), (2000, 1)))
    decision = Exploring(Unadapted(EXPERT, TASK.source()), np.array([0.1, 0.3]), stream(1)).decide(window, {})[0]
    np.testing.assert_allclose(decision.command.std(axis=0), [0.1, 0.3], rtol=0.05)
    np.testing.assert_allclose(decision.command.mean(axis=0), EXPERT(window)[0], atol=0.03)
    method, _ = scripted("rl-on-target", {})
    assert isinstance(method.policy(), Unadapted)  # nothing was learned yet
    assert not np.array_equal(act(method.explorer(stream(2)), window)[0], EXPERT(window))


@pytest.mark.parametrize("name", ["fine-tune", "rl-on-target"])
def test_what_cannot_be_trained_on_is_refused(name, tmp_path, monkeypatch):
    def some_policy(_history):
        return np.zeros((1, 2))

    with pytest.raises(Problem, match="cannot be trained on"):
        make_method(name, source(lambda _policy: None, some_policy), MethodSettings())
    with pytest.raises(Problem, match="what its simulation pays"):
        make_method(name, source(), MethodSettings())
    monkeypatch.setitem(sys.modules, "isthmus.experts.finetuner", None)
    with pytest.raises(Problem, match=r"pip install 'isthmus\[train\]'"):
        make_method(name, source(finetuner_in(TASK)), MethodSettings())
    (tmp_path / "model.npz").write_bytes(b"nothing")
    with pytest.raises(Problem, match=r"model\.npz"):
        scripted(name, {})[0].restore(MethodState.read(tmp_path / "model.npz", "trained-policy"))


def test_the_robust_policy_is_run_as_it_is_and_one_that_does_not_ship_is_missed(monkeypatch, tmp_path):
    other = NetworkPolicy(replace(EXPERT.network, output_mean=np.ones(2)))
    method = make_method("robust", source(robust=lambda: other), MethodSettings())
    window = History.of(TASK.source(3).reset(stream(0)))
    np.testing.assert_array_equal(act(method.policy(), window)[0], other(window))
    np.testing.assert_array_equal(method.policy().decide(window, {})[0].source, EXPERT(window))
    monkeypatch.setattr("isthmus.experts.shipped.WEIGHTS", tmp_path)
    with pytest.raises(Problem, match=r"no robust policy ships.*--randomise"):
        make_method("robust", source(robust=robust_for(TASK)), MethodSettings())


@pytest.mark.parametrize(("reached", "practises"), [(0.995, False), (0.5, True)])
def test_auto_trains_the_policy_on_only_where_changing_actions_falls_short(reached, practises, tmp_path):
    def rehearsed(decider, _history, _part):
        retrained = isinstance(decider, FinetunedPolicy)
        return np.full(16, 0.97 if retrained else reached if isinstance(decider, Unadapted) else 0.0)

    def made():
        def nowhere(_policy):
            return Scripted({}, [])

        def there(_policy):
            return Scripted({0: 1, 1: 2, 2: 3, 3: 4, 4: 5}, [])

        rehearsal = Rehearsal(rehearsed, source=always(1.0), zero=always(0.0), finetuner=there)
        told = source(nowhere, rehearsal=lambda *_known, **_how: rehearsal)
        return make_method("auto", told, MethodSettings(may_retrain=True))

    method, window = made(), History.of(TASK.source(3).reset(stream(0)))
    learned = method.learn(episodes(5), 0, lambda _pass, _loss: None)
    assert learned.chosen == ("fine-tune" if practises else "unadapted")
    assert ("fine-tune" in learned.predicted_scores) == practises
    assert np.array_equal(act(method.policy(), window)[0], EXPERT(window)) != practises
    method.state().write(tmp_path / "model.npz")
    again = made()
    again.restore(MethodState.read(tmp_path / "model.npz", again.kind))
    np.testing.assert_array_equal(act(again.policy(), window)[0], act(method.policy(), window)[0])
    later = method.learn(episodes(5), 1, lambda _pass, _loss: None)
    assert later.chosen == learned.chosen, "what was trained once is rehearsed, and does"
    assert "fine-tune" not in later.predicted_scores


def test_auto_that_may_not_retrain_does_not():
    told = source(
        rehearsal=lambda *_known, **_how: Rehearsal(lambda *_: np.zeros(16), source=always(1.0), zero=always(0.0))
    )
    learned = make_method("auto", told, MethodSettings()).learn(episodes(5), 0, lambda _pass, _loss: None)
    assert learned.chosen == "unadapted"
    with pytest.raises(Problem, match="what its simulation pays"):
        make_method("auto", told, MethodSettings(may_retrain=True))


def test_auto_practises_for_as_long_as_was_asked_for():
    def rehearsed(decider, _history, _part):
        return np.full(16, 0.97 if isinstance(decider, FinetunedPolicy) else 0.0)

    worths = {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 20}
    rehearsal = Rehearsal(
        rehearsed, source=always(1.0), zero=always(0.0), finetuner=lambda _policy: Scripted(worths, [])
    )
    told = source(lambda _policy: Scripted({0: 10}, []), rehearsal=lambda *_known, **_how: rehearsal)
    settings = MethodSettings(may_retrain=True, practice_steps=600)
    learned = make_method("auto", told, settings).learn(episodes(5), 0, lambda _pass, _loss: None)
    assert (learned.chosen, learned.epochs, learned.best) == ("fine-tune", 6, 6)
