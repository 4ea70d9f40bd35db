from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, PredictedScore, Source, make_method
from isthmus.adapt.auto.metrics import EVEN, ROOT, other_metrics
from isthmus.adapt.auto.selection import PARTS, PREVIOUS, UNADAPTED
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import Rehearsal
from isthmus.adapt.settings import Components
from isthmus.core import History, Problem, Trajectory, act, rollout, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.io import save_arrays
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer.source.source import make_source


def always(score):
    return lambda _part: np.full(16, score)


@pytest.fixture
def one_metric(monkeypatch):
    """No metric beside the cost-to-go."""
    monkeypatch.setattr("isthmus.adapt.auto.method.other_metrics", lambda _source: {})


@pytest.mark.usefixtures("one_metric")
@pytest.mark.parametrize(("gain", "taken"), [(0.6, "residual-action"), (0.0, UNADAPTED)])
def test_a_rehearsal_goes_on_until_it_is_sure_or_long_enough(gain, taken):
    task, parts = load_task("reacher"), []

    def rehearsed(decider, _history, part):
        parts.append(part)
        noise = np.random.default_rng(part).standard_normal(16)
        noise -= noise.mean()
        seems = 0.3 if part == 0 else gain
        return np.zeros(16) if isinstance(decider, Unadapted) else seems + noise

    source = Source(
        *(ZeroPolicy(2), task.source(), task.unclamped(4), task.robot_model.spec, 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )
    method = make_method("auto", source, MethodSettings())
    assert method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, None).chosen == taken
    assert len(parts) > 2
    assert set(parts) <= set(range(PARTS))
    assert parts == sorted(parts)


def test_a_policy_that_has_lost_nothing_is_left_alone():
    task, tried = load_task("reacher"), []

    def rehearsed(decider, _history, _part):
        tried.append(type(decider).__name__)
        return np.full(16, 1.99)

    source = Source(
        *(ZeroPolicy(2), task.source(), task.unclamped(4), task.robot_model.spec, 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )
    method = make_method("auto", source, MethodSettings())
    learned = method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, None)
    assert tried == ["Unadapted"]
    assert learned.chosen == UNADAPTED
    assert learned.predicted_scores == {
        UNADAPTED: PredictedScore(pytest.approx(0.995), pytest.approx(0.0, abs=1e-9), 16)
    }
    assert learned.predicted == pytest.approx(0.995)


@pytest.mark.parametrize(
    ("source_score", "unadapted", "zero", "felt"),
    [
        (-7.3, -9.9, -370.0, True),  # 0.993 on the scale, and an error that is a third larger
        (-7.3, -7.32, -370.0, False),  # less than a hundredth of the expert's own error
        (3500.0, 3480.0, 150.0, False),
        (3500.0, 3400.0, 150.0, True),
        (3500.0, 3520.0, 150.0, False),  # the gap does it good
        (1000.0, 992.0, 800.0, True),  # a bonus for every step that says nothing: doing nothing has most of it
    ],
)
def test_whether_the_policy_is_left_alone_is_a_matter_of_its_own_score(source_score, unadapted, zero, felt):
    task, tried = load_task("reacher"), []

    def rehearsed(decider, _history, _part):
        tried.append(type(decider).__name__)
        return np.full(16, unadapted if isinstance(decider, Unadapted) else source_score)

    source = Source(
        *(ZeroPolicy(2), task.source(), task.unclamped(4), task.robot_model.spec, 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(source_score), zero=always(zero)),
    )
    method = make_method("auto", source, MethodSettings())
    learned = method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, None)
    assert (learned.chosen == "residual-action") is felt
    assert (tried == ["Unadapted"]) is not felt


def test_without_a_fall_back_the_best_of_the_others_is_taken_however_bad():
    task = load_task("reacher")

    def rehearsed(decider, _history, _part):
        return np.full(16, 1.99 if isinstance(decider, Unadapted) else 0.5)

    source = Source(
        *(ZeroPolicy(2), task.source(), task.unclamped(4), task.robot_model.spec, 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )
    method = make_method("auto", source, MethodSettings(components=Components(fall_back=False)))
    learned = method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, None)
    assert (learned.chosen, learned.predicted) == ("residual-action", 0.25)


def test_without_a_correction_nothing_is_identified_and_rehearsals_are_told_so():
    task, told = load_task("reacher"), []

    def rehearsal(*_known, correct, **_how):
        told.append(correct)
        return Rehearsal(lambda *_: np.full(16, 1.0), source=always(2.0), zero=always(0.0))

    for parts in (Components(), Components(correction=False)):
        source = replace(make_source(task, ZeroPolicy(2), 0), rehearsal=rehearsal)
        method = make_method("auto", source, MethodSettings(components=parts))
        learned = method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, lambda *_: None)
        assert ("model-inverse" in learned.predicted_scores) is parts.correction
    assert told == [True, False]


@pytest.mark.usefixtures("one_metric")
@pytest.mark.parametrize("better", ["unadapted", "residual-action"])
def test_every_policy_is_rehearsed_once(better):
    task, tried = load_task("reacher"), []

    def rehearsed(decider, _history, _part):
        tried.append("unadapted" if isinstance(decider, Unadapted) else "residual-action")
        return np.full(16, float(tried[-1] == better))

    source = Source(
        *(ZeroPolicy(2), task.source(), task.unclamped(4), task.robot_model.spec, 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )
    method = make_method("auto", source, MethodSettings())
    learned = [
        method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], number, None) for number in range(2)
    ]
    assert tried == ["unadapted", "residual-action"] * 2 + (["residual-action"] if better == "residual-action" else [])
    assert [one.chosen for one in learned] == [better] * 2
    for one in learned:
        assert set(one.predicted_scores) - {PREVIOUS} == {UNADAPTED, "residual-action"}
        assert one.predicted == one.predicted_scores[better].score == 0.5
    assert PREVIOUS not in learned[0].predicted_scores


def test_on_a_robot_that_is_late_all_decide_for_later(tmp_path):
    task, tried, late = load_task("reacher"), [], []

    def rehearsal(_episodes, _disturbance, _z, steps, **_how):
        late.append(steps)
        return Rehearsal(rehearsed, source=always(2.0), zero=always(0.0))

    def rehearsed(decider, history, _part):
        tried.append((type(decider).__name__, history))
        return np.full(16, float(len(tried)) if len(tried) < 4 else 1.0)

    def made():
        return make_method("auto", source, MethodSettings())

    source = replace(make_source(task, ZeroPolicy(2), 0), rehearsal=rehearsal)
    method = made()
    assert method.history == 2
    episodes = [[moved(task, "delay=2", episode)] for episode in range(8)]
    assert method.learn(episodes, 0, None).chosen == "residual-action"
    assert late == [2]
    assert tried[:4] == [("Unadapted", 3), *[("DelayCompensatedPolicy", 3)] * 3]
    window = History(episodes[0][0].observations[None, :3], episodes[0][0].applied[None, :2])
    before, _ = act(method.policy(), window)
    method.state().write(tmp_path / "auto.npz")
    again = made()
    again.restore(MethodState.read(tmp_path / "auto.npz", again.kind))
    assert again.history == 3
    np.testing.assert_array_equal(act(again.policy(), window)[0], before)
    kept = copy(method._selected[1])
    method.learn(episodes[:4], 1, None)  # what it learns now is not what was taken then
    np.testing.assert_array_equal(act(kept.policy(), window)[0], before)
    on_time = [[moved(task, "none", episode)] for episode in range(8)]
    method.learn(on_time, 2, None)
    assert method.history == 2


def test_a_file_of_a_robot_that_is_impossibly_late_is_refused(tmp_path):
    source = make_source(load_task("reacher"), ZeroPolicy(2), 0)
    save_arrays(tmp_path / "auto.npz", {}, {"kind": "auto", "taken": "unadapted", "late": 99})
    with pytest.raises(Problem, match="99 steps late"):
        make_method("auto", source, MethodSettings()).restore(MethodState.read(tmp_path / "auto.npz", "auto"))


def moved(task, gap, episode):
    robot, rng = task.target(Gap.parse(gap), 1), stream(episode)
    seen, commands = [robot.reset(rng)], rng.uniform(-0.5, 0.5, (20, robot.spec.action_size))
    seen += [robot.step(command[None]).observations for command in commands]
    seen = np.concatenate(seen)
    return Trajectory(seen, commands, commands, commands, seen[1:])


def test_who_cannot_rehearse_cannot_choose():
    task = load_task("reacher")
    source = Source(lambda _history: np.zeros((1, 2)), task.source(), task.unclamped(), task.robot_model.spec, 0)
    with pytest.raises(Problem, match="tries its candidates"):
        make_method("auto", source, MethodSettings())


HOPPER = load_task("hopper")


def trial(rehearsed, policy=None):
    """A Hopper whose rehearsals come to what `rehearsed` says of a policy, and for which no other policy ships."""
    return replace(
        make_source(HOPPER, policy or load_expert(HOPPER), 0),
        conditioned=None,
        stand_in=None,
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )


def metric_of(policy):
    """Which errors count for it, as one number; None where none do."""
    found = getattr(policy, "inverse", None) or getattr(getattr(policy, "observer", None), "estimator", None)
    return None if found is None else float(found.metric.root[0, 0])


@pytest.fixture
def plain_metrics(monkeypatch):
    """Only the metrics that take no simulation to work out."""

    def plain(source):
        return {name: make for name, make in other_metrics(source).items() if name in (EVEN, ROOT)}

    monkeypatch.setattr("isthmus.adapt.auto.method.other_metrics", plain)


@pytest.mark.usefixtures("plain_metrics")
def test_where_all_fall_short_other_metrics_are_tried_until_one_does_not(tmp_path):
    tried = []

    def rehearsed(policy, _history, _part):
        tried.append(metric_of(policy))
        return np.full(16, 1.95 if len(tried) == 5 else 0.1)

    source = trial(rehearsed)
    method = make_method("auto", source, MethodSettings())
    episodes = [[moved(HOPPER, "gravity=0.5", episode)] for episode in range(5)]
    learned = method.learn(episodes, 0, None)
    assert learned.chosen == "model-inverse, weights on the root"
    assert learned.falls_short is False
    assert len(tried) == 5  # as it is, two methods, and two metrics
    even, root = tried[3:]
    assert root == pytest.approx(5 * even)  # the first target is how high the root is
    assert len({*tried[2:]}) == 3
    method.state().write(tmp_path / "auto.npz")
    again = make_method("auto", source, MethodSettings())
    again.restore(MethodState.read(tmp_path / "auto.npz", again.kind))
    seen = episodes[0][0].observations[:3]
    np.testing.assert_array_equal(*(act(one.policy(), History.of(seen))[0] for one in (again, method)))
    assert metric_of(again.policy()) == root


@pytest.mark.usefixtures("plain_metrics")
def test_in_the_best_of_the_metrics_the_other_method_is_tried_too(tmp_path):
    tried = []

    def rehearsed(policy, _history, _part):
        tried.append((type(policy).__name__, metric_of(policy)))
        score = {4: 1.0, 6: 1.5}.get(len(tried), 0.1)  # even weights, and then the last
        return np.full(16, score)

    source = trial(rehearsed)
    method = make_method("auto", source, MethodSettings())
    episodes = [[moved(HOPPER, "gravity=0.5", episode)] for episode in range(5)]
    assert method.learn(episodes, 0, None).chosen == "residual-action, even weights"
    assert tried[5:] == [("ActionResidualPolicy", tried[3][1])]
    method.state().write(tmp_path / "auto.npz")
    again = make_method("auto", source, MethodSettings())
    again.restore(MethodState.read(tmp_path / "auto.npz", again.kind))
    assert metric_of(again.policy()) == tried[3][1]
    tried.clear()
    method.learn(episodes, 1, None)  # the metric that was taken is there from the beginning
    assert [metric for _, metric in tried[3:5]] == [metric_of(again.policy())] * 2


def collected(task, gap, policy, episodes, seed=0, steps=60):
    """What is recorded of a policy on a target."""
    robot, expert = task.target(Gap.parse(gap), episodes), load_expert(task)
    start = robot.reset(stream(seed))
    moments = list(rollout(robot, policy, start, steps=steps))
    found = []
    for world in range(episodes):
        kept = [one for one in moments if one.running[world]]
        seen = np.stack([start[world], *(one.step.observations[world] for one in kept)])
        asked = np.stack([one.commands[world] for one in kept])
        applied = np.stack([one.step.applied[world] for one in kept])
        wanted = expert(History.of(seen[:-1]))
        found.append([Trajectory(seen, asked, applied, wanted, seen[1:])])
    return found


@pytest.mark.usefixtures("one_metric")
def test_what_the_target_refutes_is_given_up_for_good():
    """Rehearsals promise much of what makes the robot do something else altogether."""

    def rehearsed(policy, _history, _part):
        return np.full(16, 0.5 if isinstance(policy, Unadapted) else 1.95)

    expert = load_expert(HOPPER)
    method = make_method("auto", trial(rehearsed), MethodSettings())
    before = collected(HOPPER, "gravity=1.1", expert, 5)
    name = method.learn(before, 0, None).chosen
    assert name != UNADAPTED
    wrong = collected(HOPPER, "gravity=1.1", lambda history: -expert(history), 5, seed=1)
    learned = method.learn([*before, *wrong], 1, None)
    assert name not in learned.predicted_scores
    assert PREVIOUS not in learned.predicted_scores
    again = make_method("auto", trial(rehearsed), MethodSettings())
    again.restore(method.state())
    assert name not in again.learn([*before, *wrong], 2, None).predicted_scores


@pytest.mark.usefixtures("one_metric")
def test_what_the_target_proves_stays_unless_another_surely_does_better():
    promise = {"score": 1.5}

    def rehearsed(policy, _history, _part):
        return np.full(16, 0.5) if isinstance(policy, Unadapted) else promise["score"] + 0.5 * noise

    noise = np.random.default_rng(0).standard_normal(16)
    noise -= noise.mean()
    expert = load_expert(HOPPER)
    method = make_method("auto", trial(rehearsed), MethodSettings())
    before = collected(HOPPER, "torque-scale=0.6", expert, 6)
    name = method.learn(before, 0, None).chosen
    kept = method._selected[1]
    better = collected(HOPPER, "none", lambda history: 0.999 * expert(history), 6, seed=0)
    assert method.learn([*before, *better], 1, None).chosen == name
    assert method._selected[1] is kept
