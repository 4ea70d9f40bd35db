import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isthmus.adapt.common import cost_to_go as recursion
from isthmus.adapt.common.cost_to_go import cost_to_go
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.core import History, Step, WorldSpec, stream
from isthmus.core.metric import Metric
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.sim.sensitivity import CHUNK, action_sensitivity, state_sensitivity

seeds = st.integers(0, 10_000)


def linear_spec(d, act, targets=None):
    return WorldSpec(
        observation_names=tuple(f"o{i}" for i in range(d)),
        action_names=tuple(f"a{i}" for i in range(act)),
        action_low=-2 * np.ones(act),
        action_high=2 * np.ones(act),
        control_period=0.1,
        horizon=200,
        targets=np.arange(d) if targets is None else targets,
    )


class LinearWorld:
    """A simulator whose mathematics is known: o' = A o + B a."""

    def __init__(self, a, b, n=3, targets=None):
        self.a, self.b, self.n = a, b, n
        self.spec = linear_spec(len(a), b.shape[1], targets)
        self.o = np.zeros((n, len(a)))

    def predict(self, history, actions):
        return history.current @ self.a.T + actions @ self.b.T

    def reset(self, rng, _which=None):
        self.o = rng.standard_normal(self.o.shape)
        return self.o.copy()

    def place(self, observations):
        self.o = observations.copy()
        return self.o.copy()

    def step(self, commands, _which=None):
        self.o = self.o @ self.a.T + commands @ self.b.T
        return Step(self.o.copy(), commands, np.zeros(self.n, np.bool_))


def drawn_system(seed, d=4, act=2):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((d, d))
    a *= 0.95 / max(abs(np.linalg.eigvals(a)))
    return a, rng.standard_normal((d, act))


@given(seeds)
def test_differences_find_the_matrices_of_a_linear_system(seed):
    a, b = drawn_system(seed)
    world, rng = LinearWorld(a, b), np.random.default_rng(seed)
    spread = rng.uniform(0.5, 2, 4)
    metric = Metric.even(np.arange(4), spread)
    observations, actions = rng.standard_normal((5, 4)), rng.standard_normal((5, 2))
    following, inputs = action_sensitivity(world, observations, actions, metric)
    np.testing.assert_allclose(following, observations @ a.T + actions @ b.T)
    np.testing.assert_allclose(inputs, np.broadcast_to(2 * b / spread[:, None], (5, 4, 2)), atol=1e-8)
    states = state_sensitivity(world, observations, actions, metric)
    np.testing.assert_allclose(states, np.broadcast_to(a * spread / spread[:, None], (5, 4, 4)), atol=1e-8)


def test_many_predictions_are_made_in_parts_and_are_the_same():
    a, b = drawn_system(0)
    world, rng = LinearWorld(a, b), np.random.default_rng(0)
    observations, actions = rng.standard_normal((CHUNK, 4)), rng.standard_normal((CHUNK, 2))
    metric = Metric.even(np.arange(4), np.ones(4))
    all_at_once, _ = action_sensitivity(world, observations, actions, metric)
    np.testing.assert_allclose(all_at_once, observations @ a.T + actions @ b.T)


@given(seeds)
@settings(max_examples=20)
def test_the_cost_to_go_is_the_regulators(seed):
    a, b = drawn_system(seed)
    world = LinearWorld(a, b)
    metric = cost_to_go(lambda history: np.zeros((len(history.current), 2)), world, stream(seed))
    scaled_a = np.sqrt(recursion.DISCOUNT) * a * metric.scale / metric.scale[:, None]
    scaled_b = np.sqrt(recursion.DISCOUNT) * 2 * b / metric.scale[:, None]
    wanted = np.eye(4)
    for _ in range(2000):  # the algebraic Riccati equation, in its other form: P = 1 + A' (P^-1 + B B')^-1 A
        wanted = np.eye(4) + scaled_a.T @ np.linalg.inv(np.linalg.inv(wanted) + scaled_b @ scaled_b.T) @ scaled_a
    found = metric.root @ metric.root.T
    np.testing.assert_allclose(found, wanted / np.trace(wanted), rtol=1e-3, atol=1e-5)
    assert metric.effort == pytest.approx(1 / np.trace(wanted), rel=1e-3)


@given(seeds)
def test_a_reachable_state_is_explained_exactly_and_another_as_well_as_can_be(seed):
    a, b = drawn_system(seed)
    world, rng = LinearWorld(a, b), np.random.default_rng(seed)
    root = np.linalg.cholesky(np.cov(rng.standard_normal((4, 20))))
    explainer = EffectiveActionEstimator(world, Metric(np.arange(4), np.ones(4), root))
    observations, actions = rng.standard_normal((6, 4)), rng.uniform(-1, 1, (6, 2))
    reached = observations @ a.T + actions @ b.T
    np.testing.assert_allclose(explainer(observations, reached, np.zeros((6, 2)), 4).actions, actions, atol=1e-4)
    pushed = reached + 0.1 * rng.standard_normal(reached.shape)
    found = explainer(observations, pushed, actions, 4).actions
    weighted = np.linalg.lstsq(root.T @ b, root.T @ (pushed - observations @ a.T).T, rcond=None)[0].T
    np.testing.assert_allclose(found, weighted, atol=1e-4)


@pytest.mark.parametrize("name", ["reacher", "hopper", "half-cheetah"])
def test_the_simulators_own_steps_are_explained_by_the_actions_that_made_them(name):
    task, rng = load_task(name), stream(3)
    spec, world = task.robot_model.spec, task.source(6)
    observations = world.reset(rng)
    for _ in range(10):
        observations = world.step(0.3 * rng.uniform(-1, 1, (6, spec.action_size)) * spec.half_range).observations
    actions = 0.8 * rng.uniform(-1, 1, (6, spec.action_size)) * spec.half_range
    reached = world.predict(History.of(observations), actions)
    spread = np.maximum(np.abs(reached - observations)[:, spec.targets].std(axis=0), 1e-3)
    explainer = EffectiveActionEstimator(task.unclamped(), Metric.even(spec.targets, spread))
    start = actions + 0.1 * rng.uniform(-1, 1, actions.shape) * spec.half_range
    found = explainer(observations, reached, start, 4).actions
    np.testing.assert_allclose(found / spec.half_range, actions / spec.half_range, atol=0.02)


def test_a_stronger_motor_is_explained_by_actions_beyond_the_limit():
    task = load_task("reacher")
    spec, rng = task.robot_model.spec, stream(4)
    robot = task.target(Gap.parse("torque-scale=1.4"), 4)
    observations = robot.reset(rng)
    actions = 0.9 * spec.half_range * np.sign(rng.uniform(-1, 1, (4, 2)))
    reached = robot.step(actions).observations
    spread = np.abs(reached - observations)[:, spec.targets].std(axis=0) + 1e-6
    explainer = EffectiveActionEstimator(task.unclamped(), Metric.even(spec.targets, spread))
    found = explainer(observations, reached, actions, 4).actions
    np.testing.assert_allclose(found, 1.4 * actions, rtol=0.02)


@given(seeds, st.floats(1e-3, 10.0))
def test_an_error_is_explained_as_far_as_it_is_worth_the_effort(seed, effort):
    a, b = drawn_system(seed)
    world, rng = LinearWorld(a, b), np.random.default_rng(seed)
    explainer = EffectiveActionEstimator(world, Metric(np.arange(4), np.ones(4), np.eye(4), effort))
    observations, actions = rng.standard_normal((6, 4)), rng.uniform(-1, 1, (6, 2))
    pushed = observations @ a.T + actions @ b.T + 0.1 * rng.standard_normal((6, 4))
    missing = (pushed - observations @ a.T - actions @ b.T).T
    gain = 2 * b  # from half ranges
    wanted = np.linalg.solve(gain.T @ gain + effort * np.eye(2), gain.T @ missing).T
    start = actions + rng.uniform(-0.3, 0.3, actions.shape)
    for found in (explainer(observations, pushed, actions, 1), explainer(observations, pushed, actions, 1, start)):
        np.testing.assert_allclose(found.errors, wanted, atol=1e-6)
        share = np.diag(np.linalg.solve(gain.T @ gain + effort * np.eye(2), gain.T @ gain))
        np.testing.assert_allclose(found.gain, np.broadcast_to(share, (6, 2)), atol=1e-6)
