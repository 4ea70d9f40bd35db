import numpy as np
import pytest

from isthmus.adapt.common.gauss_newton import LARGEST_STEP, gauss_newton_step


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return rng.standard_normal((5, 4, 3)), 0.05 * rng.standard_normal((5, 4))


def test_a_step_solves_the_least_squares_of_each_problem(problem):
    jacobian, missing = problem
    wanted = [np.linalg.lstsq(j, m)[0] for j, m in zip(jacobian, missing, strict=True)]
    np.testing.assert_allclose(gauss_newton_step(jacobian, missing), wanted, atol=1e-4)


def test_what_is_held_stays_and_the_rest_is_solved_without_it(problem):
    jacobian, missing = problem
    held = np.zeros((5, 3), np.bool_)
    held[:, 1] = True
    found = gauss_newton_step(jacobian, missing, held)
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-12)
    wanted = [np.linalg.lstsq(j[:, [0, 2]], m)[0] for j, m in zip(jacobian, missing, strict=True)]
    np.testing.assert_allclose(found[:, [0, 2]], wanted, atol=1e-4)


def test_steps_are_bounded_and_damped_where_nothing_is_determined():
    jacobian = np.array([[[1e-3, 0.0]]])
    assert gauss_newton_step(jacobian, np.array([[1.0]]))[0, 0] == LARGEST_STEP
    assert gauss_newton_step(jacobian, np.array([[1.0]]))[0, 1] == 0.0
    assert gauss_newton_step(jacobian, np.array([[-1.0]]))[0, 0] == -LARGEST_STEP


def test_a_step_is_damped_by_a_millionth_of_the_trace():
    found = gauss_newton_step(np.array([[[2.0, 0.0], [0.0, 1.0]]]), np.array([[1.0, 0.5]]))
    np.testing.assert_allclose(found, [[2.0 / (4 + 5e-6), 0.5 / (1 + 5e-6)]], rtol=1e-9)
