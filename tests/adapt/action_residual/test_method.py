import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source
from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.action_residual.method import ENOUGH, ActionResidualMethod, ActionResidualPolicy, _latest
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.adapt.settings import Components
from isthmus.core import History, Trajectory, stream
from isthmus.core.metric import Metric
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.sim import MujocoWorld

TASK, GAP = load_task("reacher"), Gap.parse("armature=3")


def swung(number, steps=40):
    robot, rng = TASK.target(GAP, 1), stream(number)
    seen, commands = [robot.reset(rng)], rng.uniform(-1, 1, (steps, 2))
    seen += [robot.step(command[None]).observations for command in commands]
    seen = np.concatenate(seen)
    return [Trajectory(seen, commands, commands, commands, seen[1:])]


def test_what_another_simulator_explains_is_no_disturbance_in_it():
    source = Source(ZeroPolicy(2), TASK.source(), TASK.unclamped(4), TASK.robot_model.spec, 0)
    method, episodes = ActionResidualMethod(source, MethodSettings(history=2)), [swung(number) for number in range(6)]
    assert not method.perturbation(episodes).response.disturbance.std.any()  # nothing was learned yet
    method.learn(episodes, 0, lambda *_: None)
    in_source = method.perturbation(episodes).response.disturbance
    right = MujocoWorld(TASK.robot_model, models=GAP.apply(TASK.robot_model.model))
    assert (method.perturbation(episodes, right).response.disturbance.std < 0.01 * in_source.std).all()
    np.testing.assert_array_equal(
        method.perturbation(episodes).response.disturbance.std, in_source.std
    )  # what is learned stays


@pytest.mark.parametrize(("lengths", "taken"), [((10, 20), [0, 1]), ((10, ENOUGH - 5, 10), [1, 2]), ((5, ENOUGH), [1])])
def test_disturbances_are_told_from_the_latest_episodes(lengths, taken):
    def still(steps):
        nothing = np.zeros((steps, 2))
        return [Trajectory(np.zeros((steps + 1, 11)), nothing, nothing, nothing, np.zeros((steps, 11)))]

    latest = _latest([still(steps) for steps in lengths])
    assert [one.samples for [one] in latest] == [lengths[number] for number in taken]


def test_errors_are_explained_at_the_price_of_effort_unless_that_is_switched_off():
    """Where an action does little, the regulator's price for effort leaves a part of its error unexplained."""
    spec = TASK.robot_model.spec
    d = len(spec.targets)
    metric = Metric(spec.targets, np.full(d, 0.5), 0.1 * np.eye(d), effort=1.0)
    source = Source(ZeroPolicy(2), TASK.source(), TASK.unclamped(4), spec, 0)
    source.__dict__["cost_to_go"] = metric
    left = {}
    for price in (True, False):
        settings = MethodSettings(history=1, components=Components(effort_penalty=price))
        method = ActionResidualMethod(source, settings)
        left[price] = method.learn([swung(number) for number in range(3)], 0, lambda *_: None).action_std
    assert (np.array(left[True]) < 0.7 * np.array(left[False])).all()


def test_a_policy_that_commands_beyond_the_limits_is_corrected_to_within_them():
    """The first actuator pushes 0.7 too much, the second is as it should be."""
    spec = TASK.robot_model.spec
    response = Response.plain(spec, AR1Disturbance.none(2))
    response.weights[0, 0] = 0.7
    tracker = DisturbanceObserver(
        response, EffectiveActionEstimator(TASK.unclamped(), Metric.even(spec.targets, np.ones(len(spec.targets))))
    )

    def policy(history):
        return np.tile([2.5, -2.5], (len(history.current), 1))

    adapted = ActionResidualPolicy(policy, TASK.source(), response, tracker)
    history = History.of(TASK.source(3).reset(stream(2)))
    np.testing.assert_allclose(adapted.act(history, {})[0], np.tile([0.3, -2.5], (3, 1)))
    np.testing.assert_allclose(adapted.decide(history, {})[0].command, np.tile([0.3, -2.5], (3, 1)))
