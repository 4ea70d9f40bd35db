"""The contract of every policy: its state is in the caller's hands, and each row belongs to one robot."""

from dataclasses import dataclass

import numpy as np
import pytest

from isthmus.adapt.action_residual.disturbance_observer import DisturbanceObserver
from isthmus.adapt.action_residual.method import ActionResidualPolicy
from isthmus.adapt.auto.delay_compensation import DelayCompensatedPolicy
from isthmus.adapt.baselines.pd import PdPolicy
from isthmus.adapt.common.ar1_disturbance import AR1Disturbance
from isthmus.adapt.common.effective_action import EffectiveActionEstimator
from isthmus.adapt.common.response import Response
from isthmus.adapt.finetune.on_target import Exploring
from isthmus.adapt.finetune.policy import FinetunedPolicy
from isthmus.adapt.method import Source
from isthmus.adapt.model_inverse.method import ModelInversePolicy
from isthmus.adapt.model_inverse.one_step_inverse import OneStepInverse
from isthmus.adapt.mpc.affine import Units
from isthmus.adapt.mpc.gaussian_dynamics import GaussianDynamics
from isthmus.adapt.mpc.method import PlanningPolicy
from isthmus.adapt.mpc.output_error import OutputError
from isthmus.adapt.preview.arx import ArxModel
from isthmus.adapt.preview.method import PreviewPolicy
from isthmus.core import History, HistoryBuffer, act, initial_state, stream
from isthmus.core.metric import Metric
from isthmus.core.policy_state import reset_rows
from isthmus.evaluate.oracle import OraclePolicy
from isthmus.experts import load_expert
from isthmus.gaps import Gap
from isthmus.policies import DecisionLog, TransferPolicy, Unadapted
from isthmus.policies.finite import FinitePolicy
from isthmus.policies.sim_derived import SimDerivedPolicy
from isthmus.robots import load_task
from isthmus.sim.anatomy import joints_of
from isthmus.sysid.open_target import UnclampedTarget
from isthmus.transfer.source.source import source_cost

TASK, GAP = load_task("reacher"), Gap.parse("tilt=60")
EXPERT, SPEC = load_expert(TASK), TASK.robot_model.spec
METRIC = Metric.even(SPEC.targets, np.full(len(SPEC.targets), 0.05))
K, ROBOTS, STEPS = 3, 3, 4


@dataclass(frozen=True)
class Recurrent:
    """A policy with a hidden state, as a recurrent network has one."""

    def initial_state(self, n):
        return {"hidden": np.zeros((n, 2))}

    def act(self, history, state):
        hidden = 0.5 * state["hidden"] + EXPERT(history)
        return hidden, {"hidden": hidden}


def residual(policy):
    act_size, d = SPEC.action_size, len(SPEC.targets)
    disturbance = AR1Disturbance(
        np.full(act_size, 0.3), np.full(act_size, 0.9), np.full(act_size, 0.05), saturates=True
    )
    weights = 0.05 * stream(0).standard_normal((1 + d + K * act_size, act_size))
    response = Response(weights, np.zeros(d), np.ones(d), SPEC.half_range, SPEC.targets, disturbance)
    observer = DisturbanceObserver(response, EffectiveActionEstimator(TASK.unclamped(), METRIC))
    return ActionResidualPolicy(policy, TASK.source(), response, observer)


def preview(policy):
    sensed = len(SPEC.robot_dimensions)
    weights = 0.05 * stream(1).standard_normal((1 + sensed + K * SPEC.action_size, sensed))
    source = Source(policy, TASK.source(), TASK.unclamped(), SPEC, 0, robot_model=TASK.robot_model)
    return PreviewPolicy(source, ArxModel(weights, K - 1))


def planning(policy, adaptation):
    units = Units(SPEC, METRIC.scale)
    return PlanningPolicy(policy, TASK.source(), source_cost(TASK), units, adaptation, steps=4)


def inverse(policy):
    reach = OneStepInverse(TASK.unclamped(), SPEC.action_low, SPEC.action_high, METRIC, 1)
    return ModelInversePolicy(policy, TASK.source(), reach)


def oracle(policy):
    target = UnclampedTarget.of(TASK.robot_model, GAP.apply(TASK.robot_model.model))
    return OraclePolicy(policy, TASK.source(), target, METRIC)


POLICIES = {
    "source": lambda policy: policy,
    "finite": FinitePolicy,
    "sim-derived": lambda policy: SimDerivedPolicy(policy, TASK.source().show, np.array([8, 9, 10])),
    "transfer": lambda policy: TransferPolicy(
        policy, TASK.source(), lambda past, o_want: (o_want - past.current)[:, :2]
    ),
    "unadapted": lambda policy: Unadapted(policy, TASK.source()),
    "logged": lambda policy: DecisionLog(residual(policy)),
    "fine-tuned": lambda policy: FinetunedPolicy(policy, TASK.source(), policy),
    "exploring": lambda policy: Exploring(residual(policy), np.zeros(2), stream(0)),
    "pd": lambda policy: PdPolicy(policy, TASK.source(), joints_of(TASK.robot_model), np.ones((3, 2))),
    "model-inverse": inverse,
    "residual-action": residual,
    "preview": preview,
    "delay-compensated": lambda policy: DelayCompensatedPolicy(Unadapted(policy, TASK.source()), TASK.source(), 1),
    "output-error": lambda policy: planning(policy, OutputError()),
    "gaussian": lambda policy: planning(policy, GaussianDynamics()),
    "oracle": oracle,
}
EVERY = [
    pytest.param(make(source), id=f"{name} of {kind}")
    for kind, source in (("a network", EXPERT), ("a recurrent network", Recurrent()))
    for name, make in POLICIES.items()
]


def one(history, state, row):
    """The history and state of one robot alone."""
    alone = History(history.observations[row : row + 1], history.actions[row : row + 1])
    return alone, {name: array[row : row + 1] for name, array in state.items()}


def run(policy, steps=STEPS):
    """The windows and states before each step of a few robots, and what was commanded then."""
    robot, buffer, state = TASK.target(GAP, ROBOTS), HistoryBuffer(SPEC, ROBOTS, K), initial_state(policy, ROBOTS)
    buffer.begin(robot.reset(stream(1)))
    moments = []
    for _ in range(steps):
        command, after = act(policy, buffer.window, state)
        moments.append((buffer.window, state, command, after))
        step = robot.step(command)
        buffer.append(step.applied, step.observations)
        state = after
    return moments


@pytest.mark.parametrize("policy", EVERY)
def test_the_state_is_plain_arrays_with_a_row_for_each_robot(policy):
    initial = initial_state(policy, ROBOTS)
    for _, _, command, after in run(policy):
        assert command.shape == (ROBOTS, 2)
        assert set(after) == set(initial)
        for name, array in after.items():
            assert type(array) is np.ndarray
            assert array.shape == initial[name].shape
            assert len(array) == ROBOTS
            assert array.dtype == initial[name].dtype
            assert array.dtype.kind in "fib"


@pytest.mark.parametrize("policy", EVERY)
def test_acting_is_a_pure_function(policy):
    for window, state, command, after in run(policy):
        kept = {name: array.copy() for name, array in state.items()}
        again, other = act(policy, window, state)
        np.testing.assert_array_equal(again, command)
        for name, array in after.items():
            np.testing.assert_array_equal(other[name], array)
            np.testing.assert_array_equal(state[name], kept[name])


@pytest.mark.parametrize("policy", EVERY)
def test_each_robot_is_commanded_as_if_it_were_alone(policy):
    for window, state, command, after in run(policy):
        for row in range(ROBOTS):
            alone, left = act(policy, *one(window, state, row))
            np.testing.assert_allclose(alone[0], command[row], atol=1e-5)
            for name, array in left.items():
                np.testing.assert_allclose(array[0], after[name][row], atol=1e-4)


@pytest.mark.parametrize("policy", EVERY)
def test_a_robot_that_begins_anew_is_as_a_fresh_one_and_the_others_go_on(policy):
    window, state, command, _ = run(policy)[-1]
    begins = np.array([True, False, False])
    first, buffer = TASK.source(ROBOTS).reset(stream(2)), HistoryBuffer(SPEC, ROBOTS, K)
    buffer.begin(first)
    windows = History(
        np.where(begins[:, None, None], buffer.window.observations, window.observations),
        np.where(begins[:, None, None], buffer.window.actions, window.actions),
    )
    mixed, _ = act(policy, windows, reset_rows(state, initial_state(policy, ROBOTS), begins))
    fresh, _ = act(policy, one(buffer.window, {}, 0)[0])
    np.testing.assert_allclose(mixed[0], fresh[0], atol=1e-5)
    np.testing.assert_allclose(mixed[1:], command[1:], atol=1e-5)


def remembers(policy):
    """Whether the third command of an episode depends on the state."""
    window, state, command, _ = run(policy, 3)[-1]
    return bool(state) and not np.allclose(act(policy, window)[0], command, atol=1e-9)


@pytest.mark.parametrize("name", ["residual-action", "preview", "output-error", "gaussian"])
def test_policies_that_remember_do(name):
    assert remembers(POLICIES[name](EXPERT))


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"output-error", "gaussian"}))  # who plan, and do not follow
def test_a_recurrent_source_is_carried_along(name):
    assert remembers(POLICIES[name](Recurrent()))
