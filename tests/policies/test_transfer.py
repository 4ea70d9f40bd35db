import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import History, act
from isthmus.policies import Decision, TransferPolicy, Unadapted

SEEDS = st.integers(0, 2**32)


class Recorder:
    """Answers with what it was given to answer, and remembers what it was asked."""

    def __init__(self, answer, history=1):
        self.answer, self.history, self.asked = answer, history, []

    def __call__(self, *asked):
        self.asked.append(asked)
        return self.answer


class Forecaster:
    """A simulator of which only the prediction is used: any other access is an error."""

    def __init__(self, answer, spec):
        self.predict, self.spec = Recorder(answer), spec


def problem(seed, make_spec, n=3, obs=4, act=2):
    rng = np.random.default_rng(seed)
    history = History(rng.normal(size=(n, 2, obs)), rng.normal(size=(n, 1, act)))
    policy = Recorder(rng.uniform(-1, 1, (n, act)))
    simulator = Forecaster(rng.normal(size=(n, obs)), make_spec(obs, act))
    inverse = Recorder(rng.normal(size=(n, act)))
    return history, policy, simulator, inverse


@given(SEEDS, st.booleans())
def test_a_decision_is_the_equation_of_the_paper(make_spec, seed, correction):
    history, policy, simulator, inverse = problem(seed, make_spec)
    decision = TransferPolicy(policy, simulator, inverse, correction).decide(history, {})[0]
    [(seen_by_policy,)] = policy.asked
    assert seen_by_policy is history
    [(seen_by_simulator, action)] = simulator.predict.asked
    assert seen_by_simulator is history
    np.testing.assert_array_equal(action, policy.answer)
    [(seen_by_inverse, wanted)] = inverse.asked
    assert seen_by_inverse is history
    np.testing.assert_array_equal(wanted, simulator.predict.answer)
    np.testing.assert_array_equal(decision.source, policy.answer)
    np.testing.assert_array_equal(decision.wanted, simulator.predict.answer)
    expected = policy.answer + inverse.answer if correction else inverse.answer
    np.testing.assert_array_equal(decision.command, expected)


@given(SEEDS, st.booleans())
def test_acting_gives_the_command_of_the_decision(make_spec, seed, correction):
    history, policy, simulator, inverse = problem(seed, make_spec)
    transfer = TransferPolicy(policy, simulator, inverse, correction)
    np.testing.assert_array_equal(transfer.act(history, {})[0], transfer.decide(history, {})[0].command)


@given(SEEDS)
def test_deciding_changes_no_answer_of_its_parts(make_spec, seed):
    history, policy, simulator, inverse = problem(seed, make_spec)
    before = [part.answer.copy() for part in (policy, simulator.predict, inverse)]
    act(TransferPolicy(policy, simulator, inverse, correction=True), history)
    for part, answer in zip((policy, simulator.predict, inverse), before, strict=True):
        np.testing.assert_array_equal(part.answer, answer)


def test_the_direct_form_is_the_default_and_needs_no_shared_actuators(make_spec, rng):
    """The source's action reaches the robot only through what the simulator makes of it."""
    history, policy, simulator, _ = problem(0, make_spec)
    inverse = Recorder(rng.normal(size=(3, 5)))  # five actuators here, two in the source
    command, _ = act(TransferPolicy(policy, simulator, inverse), history)
    policy.answer = -policy.answer
    np.testing.assert_array_equal(act(TransferPolicy(policy, simulator, inverse), history)[0], command)
    np.testing.assert_array_equal(inverse.asked[0][1], inverse.asked[1][1])


def test_the_equation_holds_for_a_perfect_inverse(make_linear_world, rng):
    """With the true inverse of another robot, the robot sees what the simulator expected."""
    source = make_linear_world(1)
    target = make_linear_world(1, A=source.A * 0.9, B=source.B * 1.5)
    adapted = TransferPolicy(
        lambda history: -0.3 * history.current, source, lambda history, wanted: target.inverse(history.current, wanted)
    )
    seen = target.reset(rng)
    for _ in range(10):
        decision, _ = adapted.decide(History.of(seen), {})
        seen = target.step(decision.command).observations
        np.testing.assert_allclose(seen, decision.wanted, atol=1e-12)


def test_a_correction_of_zero_is_the_source_s_own_action(make_spec):
    history, policy, simulator, _ = problem(0, make_spec)
    transfer = TransferPolicy(policy, simulator, lambda _history, _wanted: np.zeros((3, 2)), correction=True)
    np.testing.assert_array_equal(act(transfer, history)[0], act(Unadapted(policy, simulator), history)[0])


def test_a_correction_of_a_policy_beyond_the_limits_has_its_effect(make_spec):
    history, policy, simulator, inverse = problem(0, make_spec)
    policy.answer, inverse.answer = np.tile([2.5, -2.5], (3, 1)), np.array([[-0.7, 0.0], [0.0, 0.7], [0.1, 2.0]])
    command, _ = act(TransferPolicy(policy, simulator, inverse, correction=True), history)
    np.testing.assert_allclose(command, [[0.3, -2.5], [2.5, -0.3], [2.6, 1.0]])


@given(SEEDS)
def test_the_unadapted_policy_gives_the_source_s_action_and_what_is_expected_of_it(make_spec, seed):
    history, policy, simulator, _ = problem(seed, make_spec)
    unadapted = Unadapted(policy, simulator)
    decision, _ = unadapted.decide(history, {})
    assert isinstance(decision, Decision)
    np.testing.assert_array_equal(decision.command, policy.answer)
    np.testing.assert_array_equal(decision.source, policy.answer)
    np.testing.assert_array_equal(decision.wanted, simulator.predict.answer)
    np.testing.assert_array_equal(act(unadapted, history)[0], policy.answer)
    [(_, action)] = simulator.predict.asked
    np.testing.assert_array_equal(action, policy.answer)


def test_a_decision_has_no_room_for_anything_else(make_spec):
    history, policy, simulator, inverse = problem(0, make_spec)
    decision, _ = TransferPolicy(policy, simulator, inverse).decide(history, {})
    with pytest.raises((AttributeError, TypeError)):
        decision.reward = 1.0
