"""The inverse network that is asked for recorded observations: only target steps are learned from."""

from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.common.reference import Reference
from isthmus.adapt.method import SelfExploring
from isthmus.adapt.reference.preview import ReferencePreviewMethod
from isthmus.adapt.settings import FitSettings
from isthmus.core import History, Problem, Trajectory, act, initial_state, rollout

FIT = FitSettings(epochs=40)


def circle():
    angle = 2 * np.pi * np.arange(101) / 40
    return 0.3 * np.column_stack((np.sin(angle), np.cos(angle)))


class NoSimulator:
    """Raises if anybody asks it."""

    n = 1

    def __init__(self, spec):
        self.spec = spec

    def predict(self, history, actions):
        raise AssertionError("there is no simulator of the source")


@pytest.fixture
def linear_world(make_linear_world):
    return make_linear_world()


@pytest.fixture
def source(linear_world):
    spec = linear_world.spec
    nothing = NoSimulator(spec)
    return Source(
        policy=nothing, simulator=nothing, unclamped=nothing, spec=spec, seed=0, reference=Reference((circle(),))
    )


def collected(world, method, rng, steps=300):
    seen, given = [world.place(circle()[:1])], []
    for moment in rollout(world, method.exploring(rng), seen[0], steps=steps):
        seen.append(moment.step.observations)
        given.append(moment.step.applied)
    observations, actions = np.concatenate(seen), np.concatenate(given)
    return [[Trajectory(observations, actions, actions, actions, observations[1:])]]


@pytest.mark.parametrize(("follow", "error"), [("track", 0.05), ("clone", 0.12)])
def test_it_follows_without_a_simulator_and_without_actions(source, linear_world, rng, follow, error):
    method = make_method("inverse", source, MethodSettings(fit=FIT, follow=follow))
    assert isinstance(method, SelfExploring)
    method.learn(collected(linear_world, method, rng), 0, lambda *_: None)
    start = linear_world.place(circle()[:1])
    moments = list(rollout(linear_world, method.policy(), start, steps=120))
    seen = np.concatenate([moment.step.observations for moment in moments])
    assert np.abs(np.linalg.norm(seen, axis=1) - 0.3).mean() < error  # a circle of radius 0.3
    turned = np.unwrap(np.arctan2(seen[:, 0], seen[:, 1]))[-1]
    assert turned == pytest.approx(6 * np.pi, rel=0.2)  # three turns, out of a recording of two and a half


def test_its_models_are_restored_from_plain_arrays(source, linear_world, rng):
    settings = MethodSettings(fit=FitSettings(epochs=2))
    method = make_method("inverse", source, settings)
    method.learn(collected(linear_world, method, rng, 60), 0, lambda *_: None)
    again = make_method("inverse", source, settings)
    again.restore(method.state())
    history = History.of(circle()[:5])
    ours, theirs = (act(one.policy(), history, initial_state(one.policy(), 5))[0] for one in (method, again))
    np.testing.assert_array_equal(ours, theirs)


def test_models_of_the_other_way_to_follow_are_refused(source, linear_world, rng):
    method = make_method("inverse", source, MethodSettings(fit=FitSettings(epochs=1), follow="track"))
    method.learn(collected(linear_world, method, rng, 40), 0, lambda *_: None)
    with pytest.raises(Problem):
        make_method("inverse", source, MethodSettings(follow="clone")).restore(method.state())


def test_a_clone_with_a_history_is_refused(source):
    with pytest.raises(Problem, match="give --follow track"):
        make_method("inverse", source, MethodSettings(history=2, follow="clone"))


def test_an_unknown_way_to_follow_is_refused():
    with pytest.raises(Problem, match="clome"):
        MethodSettings(follow="clome")


def test_preview_looks_ahead_along_the_recording_and_asks_no_simulator(source, linear_world):
    spec = replace(source.spec, commands="position", action_names=source.spec.observation_names)
    source = replace(source, spec=spec)
    source.__dict__["joints"] = lambda seen: (seen, np.zeros_like(seen))
    method = make_method("preview", source, MethodSettings())
    assert isinstance(method, ReferencePreviewMethod)
    policy = method.policy()
    world = replace(linear_world, spec=spec, A=np.zeros((2, 2)), B=np.eye(2))  # a command is reached at once
    start = world.place(circle()[:1])
    seen = np.concatenate([one.step.observations for one in rollout(world, policy, start, steps=60)])
    np.testing.assert_allclose(seen, circle()[1:61], atol=1e-9)
    jolted = [seen[0]], []
    rng = np.random.default_rng(0)
    for command in circle():
        jolted[1].append(command + 0.05 * rng.standard_normal(2))
        jolted[0].append(jolted[0][-1] + 0.5 * (jolted[1][-1] - jolted[0][-1]))  # a robot that lags
    observations, actions = map(np.array, jolted)
    method.learn([[Trajectory(observations, actions, actions, actions, observations[1:])]], 0, lambda *_: None)

    def error(policy):
        lagging = replace(world, A=0.5 * np.eye(2), B=0.5 * np.eye(2))
        begin = lagging.place(circle()[:1])
        moments = rollout(lagging, policy, begin, history=method.history, steps=60)
        return np.abs(np.concatenate([one.step.observations for one in moments]) - circle()[1:61]).mean()

    assert error(method.policy()) < 0.5 * error(policy)
