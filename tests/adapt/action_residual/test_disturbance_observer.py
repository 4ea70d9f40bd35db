from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.ar1_filter import AR1Filter
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.core import History, HistoryBuffer, stream
from isthmus.core.metric import Metric
from isthmus.core.past_actions import past_actions
from isthmus.gaps import Gap
from isthmus.robots import load_task

ROBOTS = 3


def tracker(task, *, cut=True, lasting=1.0, history=2):
    spec = task.robot_model.spec
    act, d = spec.action_size, len(spec.targets)
    disturbance = AR1Disturbance(np.full(act, 0.8), np.full(act, lasting), np.full(act, 0.02), saturates=cut)
    weights = np.zeros((1 + d + history * act, act))
    response = Response(weights, np.zeros(d), np.ones(d), spec.half_range, spec.targets, disturbance)
    return DisturbanceObserver(
        response, EffectiveActionEstimator(task.unclamped(), Metric.even(spec.targets, np.ones(d)))
    ), disturbance


def mean(belief, disturbance):
    return (belief * disturbance.grid).sum(axis=-1)


def followed(found, robot, commands, rng):
    """The beliefs before each step of commands (T, n, act), and the states then."""
    buffer, state = HistoryBuffer(robot.spec, robot.n, 2), found.initial_state(robot.n)
    buffer.begin(robot.reset(rng))
    beliefs, states = [], []
    for command in commands:
        beliefs.append(found.belief(buffer.window, state))
        states.append(state)
        state = found.next_state(buffer.window, beliefs[-1], command)
        step = robot.step(command)
        buffer.append(step.applied, step.observations)
    return beliefs, states


@pytest.mark.parametrize("scale", [0.5, 1.6])
def test_a_noise_that_lasts_is_followed_through_commands_beyond_the_limit(scale):
    """What the noise of each robot is, is read off a step of a robot that is asked for nothing."""
    task = load_task("hopper")
    robot = task.target(Gap.parse("motor-noise=0.5,noise-correlation=1"), ROBOTS)
    found, disturbance = tracker(task)
    rng = stream(5)
    commands = scale * stream(6).uniform(-1, 1, (12, ROBOTS, 3))
    beliefs = [mean(belief, disturbance) for belief in followed(found, robot, commands, rng)[0]]
    np.testing.assert_allclose(beliefs[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(beliefs[-1], beliefs[-2], atol=0.1)
    assert np.abs(beliefs[-1]).max() > 0.2
    assert np.abs(beliefs[-1] - beliefs[-1][:1]).max() > 0.2  # each robot has its own


def test_a_robot_that_does_not_move_is_observed_all_the_same():
    """An observation that comes twice is a step of an episode that goes on, whatever a float is equal to."""
    task = load_task("hopper")
    found, disturbance = tracker(task)
    seen = task.source(1).reset(stream(0))
    window = History(np.repeat(seen[:, None], 2, axis=1), np.full((1, 1, 3), 0.5))
    state = {**found.initial_state(1), "command": np.full((1, 3), 0.5), "begun": np.array([True])}
    assert np.abs(mean(found.belief(window, state), disturbance)).max() > 0.1
    state = found.initial_state(1)
    np.testing.assert_array_equal(found.belief(window, state), disturbance.start(1))


@pytest.mark.parametrize(("changed", "same"), [(1e-8, True), (0.05, False)])
def test_a_command_that_was_rounded_on_its_way_is_still_the_command(changed, same):
    """Or else what was asked for beyond a limit would be forgotten whenever another actuator's number is rounded."""
    task = load_task("hopper")
    found, _ = tracker(task)
    seen = task.source(2).reset(stream(0))
    asked = np.array([[0.5, -0.3, 1.4]])
    state = {**found.initial_state(1), "command": asked, "begun": np.array([True])}
    beliefs = [
        found.belief(History(seen[None], (np.clip(asked, -1, 1) + np.array([off, 0, 0]))[:, None]), state)
        for off in (0.0, changed)
    ]
    assert (np.abs(beliefs[1] - beliefs[0]).max() < 1e-6) == same


@pytest.mark.parametrize("robots", [1, 3, 8, 11])
def test_no_more_steps_are_explained_than_there_are_robots(robots):
    """A single robot waits for its own step, and not for copies of it."""
    task, asked = load_task("reacher"), []
    found, _ = tracker(task)

    def counting(before, *rest, **how):
        asked.append(len(before))
        return found.estimator(before, *rest, **how)

    followed(replace(found, estimator=counting), task.source(robots), np.full((3, robots, 2), 0.1), stream(0))
    assert asked == [robots] * 2


def test_robots_that_have_not_begun_are_not_explained():
    task, asked = load_task("reacher"), []
    found, disturbance = tracker(task)

    def counting(before, *rest, **how):
        asked.append(len(before))
        return found.estimator(before, *rest, **how)

    observer, begun = replace(found, estimator=counting), np.arange(20) % 4 == 0
    window = History(np.repeat(task.source(20).reset(stream(0))[:, None], 2, axis=1), np.full((20, 1, 2), 0.1))
    belief = observer.belief(window, {**found.initial_state(20), "begun": begun})
    assert asked == [8]  # five, filled up
    np.testing.assert_array_equal(belief[~begun], disturbance.start(15))
    assert (np.abs(mean(belief, disturbance)).max(axis=1) > 0)[begun].all()


def test_without_history_nothing_is_followed():
    task = load_task("hopper")
    found, disturbance = tracker(task, history=1)
    assert found.initial_state(ROBOTS) == {}
    seen = task.source(ROBOTS).reset(stream(0))
    np.testing.assert_array_equal(found.belief(History.of(seen), {}), disturbance.start(ROBOTS))


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_recorded_windows_of_commands_are_those_of_a_run(steps):
    task, rng = load_task("hopper"), stream(5)
    robot = task.source(1)
    buffer = HistoryBuffer(robot.spec, 1, steps + 1)
    buffer.begin(robot.reset(rng))
    live, done = [], []
    for _ in range(6):
        live.append(buffer.window.actions.reshape(-1).copy())
        step = robot.step(rng.uniform(-1, 1, (1, 3)))
        buffer.append(step.applied, step.observations)
        done.append(step.applied[0])
    np.testing.assert_array_equal(past_actions(np.stack(done), steps), np.stack(live))


class Pushed:
    """A simulator whose mathematics is known: o' = o + B a, with ranges of 2 and 0.5 about 1 and -3."""

    HALF, MIDDLE, B = np.array([2.0, 0.5]), np.array([1.0, -3.0]), np.array([[0.8, 0.3], [-0.2, 1.5]])

    def __init__(self):
        self.spec = replace(
            load_task("reacher").robot_model.spec,
            observation_names=("x", "y"),
            action_low=self.MIDDLE - self.HALF,
            action_high=self.MIDDLE + self.HALF,
            targets=np.arange(2),
        )

    def predict(self, history, actions):
        return history.current + actions @ self.B.T


@pytest.mark.parametrize("correlation", [0.4, 0.9])
def test_before_each_step_the_belief_is_the_kalman_filters_prediction(correlation):
    """A disturbance that is followed decays towards its mean between two steps, and becomes less certain."""
    simulator, rng = Pushed(), np.random.default_rng(0)
    disturbance = AR1Disturbance(np.full(2, 0.4), np.full(2, correlation), np.full(2, 0.1), saturates=False)
    plain = Response.plain(simulator.spec, disturbance)
    response = replace(plain, weights=np.zeros((1 + 2 + 2 * 2, 2)))  # it looks at the command before
    found = DisturbanceObserver(response, EffectiveActionEstimator(simulator, Metric.even(np.arange(2), np.ones(2))))
    kalman, buffer = AR1Filter(0.4, correlation, 0.1), HistoryBuffer(simulator.spec, 1, 2)
    d, mean, variance = 0.4 * rng.standard_normal(2), np.zeros(2), np.full(2, 0.16)
    buffer.begin(np.zeros((1, 2)))
    state = found.initial_state(1)
    for _ in range(15):
        belief = found.belief(buffer.window, state)
        np.testing.assert_allclose((belief * disturbance.grid).sum(axis=-1)[0], mean, atol=0.02)
        second = (belief * np.square(disturbance.grid)).sum(axis=-1)[0]
        np.testing.assert_allclose(second - np.square(mean), variance, rtol=0.1, atol=0.004)
        command = simulator.MIDDLE + rng.uniform(-0.8, 0.8, (1, 2)) * simulator.HALF
        state = found.next_state(buffer.window, belief, command)
        error = d + 0.1 * rng.standard_normal(2)
        buffer.append(command, buffer.window.current + (command + simulator.HALF * error) @ simulator.B.T)
        mean, variance = kalman.predict(*kalman.update(mean, variance, error, np.ones(2), np.full(2, 0.01)))
        d = correlation * d + np.sqrt(1 - correlation**2) * 0.4 * rng.standard_normal(2)
