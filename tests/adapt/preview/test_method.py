"""Looking ahead on a robot that lags: a one-step inverse of it would ring."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, make_method
from isthmus.adapt.common.method_state import MethodState
from isthmus.adapt.preview.arx import ArxModel, ArxRun, fit_arx
from isthmus.adapt.preview.method import led_past
from isthmus.core import HistoryBuffer, Trajectory, act, initial_state
from isthmus.core.past_actions import past_actions

LAG, LATER = 0.3, 0.6
"""What a command moves in its own step, and in the one after: more, so that no one-step inverse is stable."""


@dataclass
class Lagging:
    """q' = q + LAG (c - q) + LATER (c_before - q) / 2, for each of two joints; the source has no lag."""

    spec: object
    q: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))
    before: np.ndarray = field(default_factory=lambda: np.zeros((1, 2)))

    def step(self, command):
        self.q = self.q + LAG * (command - self.q) + LATER / 2 * (self.before - self.q)
        self.before = command
        return self.q.copy()


@dataclass
class Direct:
    """The source: a command is reached at once."""

    spec: object
    n: int = 1

    def predict(self, history, actions):
        after = history.current.copy()
        after[:, :2], after[:, 2] = actions, after[:, 2] + 1
        return after


class Limited(Direct):
    """The same, with actuators that have limits."""

    def predict(self, history, actions):
        return super().predict(history, self.spec.clip(actions))


def policy(history):
    time = history.current[:, 2:3] + 1
    return np.hstack((np.sin(0.6 * time), 0.5 * np.cos(0.6 * time)))


@pytest.fixture
def source(make_spec):
    spec = replace(make_spec(3, 2), targets=np.arange(2), sensed=np.arange(2), commands="position")
    source = Source(policy=policy, simulator=Direct(spec), unclamped=Direct(spec), spec=spec, seed=0)
    source.__dict__["joints"] = joints
    return source


def joints(seen):
    """Where the two joints are, which a simulator that is not MuJoCo's cannot be asked."""
    return seen[:, :2], np.zeros_like(seen[:, :2])


def swing(source, policy, history, steps=60, jolt=0.0, rng=None, start=(0.0, 0.0)):
    robot = Lagging(source.spec, np.array([start]))
    seen = [np.array([[*start, 0.0]])]
    buffer = HistoryBuffer(source.spec, 1, history)
    buffer.begin(seen[0])
    commands, state = [], initial_state(policy, 1)
    for step in range(steps):
        command, state = act(policy, buffer.window, state)
        if jolt:
            command = command + rng.normal(scale=jolt, size=command.shape)
        commands.append(command)
        seen.append(np.hstack((robot.step(command), [[step + 1.0]])))
        buffer.append(command, seen[-1])
    observations, given = np.concatenate(seen), np.concatenate(commands)
    errors = np.abs(observations[1:, :2] - policy_course(steps))
    return Trajectory(observations, given, given, given, observations[1:]), float(errors[10:].mean())


def policy_course(steps):
    time = np.arange(1, steps + 1)[:, None]
    return np.hstack((np.sin(0.6 * time), 0.5 * np.cos(0.6 * time)))


def test_it_keeps_a_lagging_robot_on_course(source, rng):
    episodes = [[swing(source, policy, 1, jolt=0.1, rng=rng)[0]] for _ in range(6)]
    _, unadapted = swing(source, policy, 1)
    method = make_method("preview", source, MethodSettings())
    method.learn(episodes, 0, lambda _epoch, _loss: None)
    _, adapted = swing(source, method.policy(), method.history)
    assert adapted < 0.2 * unadapted


def test_a_policy_beyond_the_limits_counts_for_what_the_actuators_make_of_it(source, rng):
    method = make_method("preview", source, MethodSettings())
    method.learn([[swing(source, policy, 1, jolt=0.1, rng=rng)[0]] for _ in range(6)], 0, lambda *_: None)
    history = HistoryBuffer(source.spec, 1, method.history)
    history.begin(np.array([[1.5, -0.9, 0.0]]))

    def command(push):
        limited = Limited(source.spec)
        source_of = replace(source, policy=lambda past: np.full((len(past.current), 2), push), simulator=limited)
        source_of.__dict__["joints"] = joints
        method._source = source_of
        return act(method.policy(), history.window)[0]

    inside, beyond = command(1.0), command(2.5)
    assert (inside < 1).any()
    np.testing.assert_allclose(beyond, np.where(inside >= 1, inside + 1.5, inside))


def test_recorded_commands_are_led_as_those_of_a_run(source, rng):
    live = []

    def watched(history):
        live.append(led_past(history, 3, np.array([len(live)]), source.joints)[0])
        return policy(history)

    run, _ = swing(source, watched, 4, steps=12, jolt=0.1, rng=rng, start=(0.3, -0.2))
    before = source.joints(run.observations[:1])[0][0]
    np.testing.assert_array_equal(past_actions(run.applied, 3, before), np.stack(live))
    np.testing.assert_array_equal(live[0], np.tile(before, 3))


def test_a_robot_that_stood_still_for_a_step_was_commanded_all_the_same(source):
    """An observation that comes twice is no sign of a new episode."""
    buffer = HistoryBuffer(source.spec, 1, 4)
    buffer.begin(np.array([[0.3, -0.2, 0.0]]))
    for command in (0.1, 0.2, 0.4):
        buffer.append(np.full((1, 2), command), np.array([[0.3, -0.2, 0.0]]))
    past = led_past(buffer.window, 3, np.array([3]), source.joints)
    np.testing.assert_array_equal(past, [[0.1, 0.1, 0.2, 0.2, 0.4, 0.4]])


def test_what_was_learned_is_the_same_after_it_was_saved(source, rng, tmp_path):
    method = make_method("preview", source, MethodSettings())
    method.learn([[swing(source, policy, 1, jolt=0.1, rng=rng)[0]] for _ in range(3)], 0, lambda *_: None)
    method.state().write(tmp_path / "model.npz")
    again = make_method("preview", source, MethodSettings())
    again.restore(MethodState.read(tmp_path / "model.npz", again.kind))
    assert swing(source, method.policy(), 3)[1] == swing(source, again.policy(), 3)[1]


def test_an_answer_finds_the_robots_own_numbers(rng):
    weights = rng.normal(scale=0.3, size=(1 + 2 + 2 * 2, 2))
    weights[1:3] = -0.5 * np.eye(2)  # it comes to rest
    truth = ArxModel(weights, past=1)
    runs = []
    for _ in range(5):
        actions, sensed = rng.normal(size=(40, 2)), [rng.normal(size=(1, 2))]
        past = past_actions(actions, 1)
        for action, before in zip(actions, past, strict=True):
            sensed.append(truth(sensed[-1], action[None], before[None]))
        runs.append(ArxRun(np.concatenate(sensed), actions, past))
    fitted = fit_arx(runs, past=1)
    np.testing.assert_allclose(fitted.weights, truth.weights, atol=1e-4)
    assert fitted.actions == 2


def test_a_course_is_its_sensitivity_in_steps(rng):
    answer = ArxModel(rng.normal(scale=0.2, size=(1 + 2 + 2 * 3, 2)), past=2)
    start, past, none = rng.normal(size=(1, 2)), rng.normal(size=(1, 4)), np.zeros((1, 2))
    actions = rng.normal(size=(1, 3, 2))
    moved = answer.rollout(start, actions, past, none) - answer.rollout(start, 0 * actions, past, none)
    np.testing.assert_allclose(moved[0], np.einsum("hsja,ja->hs", answer.sensitivity(3), actions[0]), atol=1e-12)
