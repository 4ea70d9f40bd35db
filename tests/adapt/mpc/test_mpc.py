from dataclasses import replace

import numpy as np
import pytest

from isthmus.adapt import MethodSettings, Source, SourceCost, make_method
from isthmus.adapt.mpc.affine import Affine, Units
from isthmus.adapt.mpc.horizon import Horizon, outlook
from isthmus.core import Problem, rollout, stream
from isthmus.evaluate import Scale, evaluate, record
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import ZeroPolicy
from isthmus.robots import load_task
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.source.source import source_cost

TASK = load_task("reacher")
EXPERT = load_expert(TASK)
PLANNERS = ("output-error", "gaussian")


def source(cost=None):
    spec = TASK.robot_model.spec
    return Source(EXPERT, TASK.source(), TASK.unclamped(4), spec, 0, cost or source_cost(TASK))


def score(gap, policy, history):
    return evaluate(TASK, TASK.target(Gap.parse(gap), 20), policy, history, stream(0, "evaluate")).score


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("gap", ["tilt=45", "tilt=90"])
def test_a_tilted_arm_reaches_without_any_training(name, gap):
    scale = Scale(score("none", ZeroPolicy(2), 1), score("none", EXPERT, 1))
    method = make_method(name, source(), MethodSettings())
    assert not method.needs_target_data
    assert scale(score(gap, method.policy(), method.history)) >= 0.8


@pytest.mark.parametrize(("name", "share"), [("output-error", 0.05), ("gaussian", 0.5)])
def test_what_an_adapted_planner_expects_comes_closer_to_what_is_seen(name, share):
    method = make_method(name, source(), MethodSettings())

    def surprise(decider):
        world = TASK.target(Gap.parse("tilt=90"), 8)
        trace = record(world, decider, 2, stream(4, "trace"), lambda: world.fields["qpos"])
        errors = np.abs(trace.observations[:, 1:] - trace.wanted)[:, 5:, 6:8]  # of the speeds, once there is a past
        return np.median(errors)  # now and then the elbow hits its end, which no line foresees

    assert surprise(method.policy()) < share * surprise(replace(method.policy(), adaptation=NoAdaptation()))


class NoAdaptation:
    """The simulator as it is."""

    def initial_state(self, _n, _units):
        return {}

    def __call__(self, prior, _last, _state):
        return prior, {}


@pytest.mark.parametrize("name", PLANNERS)
def test_plans_stay_within_the_limits(name):
    method, robot = make_method(name, source(), MethodSettings()), TASK.target(Gap.parse("tilt=60"), 2)
    for moment in rollout(robot, method.policy(), robot.reset(stream(1)), history=method.history, steps=5):
        assert (np.abs(moment.commands) <= TASK.robot_model.spec.action_high).all()


def test_a_task_that_does_not_say_its_cost_cannot_be_planned_for():
    with pytest.raises(Problem, match="does not say what its simulation costs"):
        make_method("gaussian", replace(source(), cost=None), MethodSettings())


def test_the_outlook_is_the_simulators_own_near_where_it_was_taken():
    units = Units(TASK.robot_model.spec, np.full(11, 0.05))
    rng, world = stream(3), TASK.unclamped(3)
    observations, controls = world.reset(rng), rng.uniform(-1, 1, (3, 2))
    found = outlook(source_cost(TASK), units, observations, controls)
    nearby = controls + 0.01
    seen, before, after = source_cost(TASK).predict(observations, units.action(nearby), len(observations))
    states = units.state(observations)
    np.testing.assert_allclose(found.dynamics(states, nearby), units.state(seen), atol=1e-3)
    np.testing.assert_allclose(found.before(states, nearby), before, atol=1e-9)
    np.testing.assert_allclose(found.after(states, nearby), after, atol=1e-4)


def test_a_quadratic_cost_is_expanded_as_it_is(make_spec):
    rng = np.random.default_rng(0)
    spec = make_spec(3, 2)
    weights = np.array([2.0, 0.5])

    def price(before, actions, after):
        return np.square(before) @ weights + 0.3 * np.square(actions).sum(axis=1) + after @ weights

    cost = SourceCost(lambda _o, _a, _n: pytest.fail("a horizon asks for no simulation"), price)

    def affine(rows):
        return Affine(rng.standard_normal((1, rows, 3)), rng.standard_normal((1, rows, 2)), np.zeros((1, rows)))

    from isthmus.adapt.mpc.horizon import Outlook

    ahead = Outlook(affine(3), affine(2), affine(2))
    problem = Horizon(ahead.dynamics, ahead, cost, Units(spec, np.ones(3)))
    states, controls = rng.standard_normal((1, 5, 3)), rng.standard_normal((1, 4, 2))
    local = problem.local(states, controls)
    dx, du = 0.1 * rng.standard_normal((1, 5, 3)), 0.1 * rng.standard_normal((1, 4, 2))
    expected = problem.cost(states, controls) + sum(
        local.lx[0, t] @ dx[0, t]
        + local.lu[0, t] @ du[0, t]
        + dx[0, t] @ local.lxx[0, t] @ dx[0, t] / 2
        + du[0, t] @ local.luu[0, t] @ du[0, t] / 2
        + du[0, t] @ local.lux[0, t] @ dx[0, t]
        for t in range(4)
    )
    np.testing.assert_allclose(problem.cost(states + dx, controls + du), expected, rtol=1e-6)


def test_a_crossing_scores_what_needs_no_samples(tmp_path):
    config = Config("reacher", "tilt=90", "output-error", evaluation_episodes=50)
    result = run_transfer(config, RunFolder(tmp_path / "run"))
    assert result.samples == 0
    assert result.normalised_adapted > 0.8 > result.normalised_unadapted
