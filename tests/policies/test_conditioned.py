import numpy as np
import pytest

from isthmus.core import History, Mlp, Problem
from isthmus.policies import NetworkPolicy
from isthmus.policies.conditioned import ConditionedPolicy, read_conditioned
from isthmus.policies.view import whole

RNG = np.random.default_rng(0)
NETWORK = Mlp(
    tuple(RNG.normal(size=shape).astype(np.float32) for shape in ((5, 8), (8, 2))),
    (RNG.normal(size=8).astype(np.float32), np.zeros(2, np.float32)),
    "tanh",
    RNG.normal(size=5),
    np.full(5, 2.0),
    np.zeros(2),
    np.ones(2),
    input_clip=10.0,
)
POLICY = ConditionedPolicy(NETWORK, ("mass leg", "gravity z"), np.array([-0.5, -0.2]), np.array([0.5, 0.3]))
SEEN = RNG.normal(size=(6, 3))
WINDOW = History.of(SEEN)


def test_what_is_told_goes_into_the_biases():
    z = np.array([0.2, -0.1])
    wanted = NETWORK(np.hstack((SEEN, np.tile(z, (6, 1)))))
    np.testing.assert_allclose(POLICY.at(z)(WINDOW), wanted, atol=1e-5)
    np.testing.assert_allclose(POLICY.among(np.tile(z, (6, 1)))(WINDOW), wanted, atol=1e-12)
    assert POLICY.at(z).network.input_size == 3


def test_nothing_is_told_from_beyond_the_training():
    far, edge = POLICY.at(np.array([9.0, -9.0])), POLICY.at(np.array([0.5, -0.2]))
    np.testing.assert_array_equal(far(WINDOW), edge(WINDOW))


def test_by_itself_it_acts_for_the_simulators_own_physics():
    np.testing.assert_array_equal(POLICY(WINDOW), POLICY.at(np.zeros(2))(WINDOW))


def test_a_file_keeps_names_and_ranges(tmp_path):
    POLICY.save(tmp_path / "policy.npz")
    again = read_conditioned(tmp_path / "policy.npz", whole)
    assert again.names == POLICY.names
    np.testing.assert_array_equal(again.high, POLICY.high)
    np.testing.assert_array_equal(again(WINDOW), POLICY(WINDOW))


def test_a_file_that_is_something_else_is_refused(tmp_path):
    NetworkPolicy(NETWORK).save(tmp_path / "policy.npz")
    with pytest.raises(Problem, match=r"policy\.npz"):
        read_conditioned(tmp_path / "policy.npz", whole)


def test_quantities_that_do_not_fit_the_network_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        ConditionedPolicy(NETWORK, (), np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="ends before it begins"):
        ConditionedPolicy(NETWORK, ("a",), np.ones(1), np.zeros(1))
