from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, PredictedScore, Source, make_method
from isthmus.adapt.auto.selection import PARTS, PREVIOUS, UNADAPTED
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.method import Rehearsal
from isthmus.adapt.settings import Components
from isthmus.core import History, Problem, Trajectory, act, stream
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.io import save_arrays
from isthmus.policies import Unadapted, ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer.source.source import make_source


def always(score):
    return lambda _part: np.full(16, score)


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

    def rehearsal(*_known, correct):
        told.append(correct)
        return Rehearsal(lambda *_: np.full(16, 1.0), source=always(2.0), zero=always(0.0))

    for parts in (Components(), Components(correction=False)):
        source = replace(make_source(task, ZeroPolicy(2), 0), rehearsal=rehearsal)
        method = make_method("auto", source, MethodSettings(components=parts))
        learned = method.learn([[moved(task, "tilt=90", episode)] for episode in range(5)], 0, lambda *_: None)
        assert ("model-inverse" in learned.predicted_scores) is parts.correction
    assert told == [True, False]


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


def test_where_all_fall_short_other_weights_are_tried(tmp_path):
    task, tried = load_task("hopper"), []

    def rehearsed(decider, _history, _part):
        reach = getattr(decider, "inverse", None)
        tried.append(type(decider).__name__ if reach is None else reach.metric.root[0, 0])
        return np.full(16, 1.0 if len(tried) == 5 else 0.1)  # the last one does it

    def made():
        return make_method("auto", source, MethodSettings())

    source = replace(
        make_source(task, load_expert(task), 0),
        rehearsal=lambda *_known, **_how: Rehearsal(rehearsed, source=always(2.0), zero=always(0.0)),
    )
    method = made()
    episodes = [[moved(task, "gravity=0.5", episode)] for episode in range(5)]
    learned = method.learn(episodes, 0, None)
    assert learned.chosen == "model-inverse, weights on the root"
    assert len(tried) == 5
    plain, even, root = tried[2:]
    assert root == pytest.approx(5 * even)  # the first target is how high the root is
    assert plain != even
    method.state().write(tmp_path / "auto.npz")
    again = made()
    again.restore(MethodState.read(tmp_path / "auto.npz", again.kind))
    seen = episodes[0][0].observations[:3]
    np.testing.assert_array_equal(*(act(one.policy(), History.of(seen))[0] for one in (again, method)))
    assert again.policy().inverse.metric.root[0, 0] == root
