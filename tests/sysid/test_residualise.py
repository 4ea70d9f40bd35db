import numpy as np

from isthmus.sysid.residualise import ROWS_A_FEATURE, residualise


def test_what_goes_along_with_a_column_is_taken_out_and_the_rest_stays():
    rng = np.random.default_rng(0)
    along, noise = 7 + 3 * rng.standard_normal((4000, 2)), rng.standard_normal((4000, 2))
    left = residualise(5 + along @ np.array([[2.0, 0.0], [0.0, -1.0]]) + noise, along)
    np.testing.assert_allclose(left, noise, atol=0.15)
    assert np.abs(np.corrcoef(left.T, along.T)[:2, 2:]).max() < 3e-3
    assert np.abs(left.mean(axis=0)).max() < 0.01


def test_columns_that_do_not_vary_are_left_out():
    rng = np.random.default_rng(0)
    along = np.column_stack((rng.standard_normal(50), np.full(50, 3.0)))
    left = residualise(along[:, :1], along)
    assert np.abs(left).max() < 0.1


def test_errors_stay_as_they_are_where_there_are_too_few_rows():
    rng = np.random.default_rng(0)
    least = ROWS_A_FEATURE * 3
    along, errors = rng.standard_normal((least, 2)), rng.standard_normal((least, 1))
    np.testing.assert_array_equal(residualise(errors[:-1], along[:-1]), errors[:-1])
    assert (residualise(errors, along) != errors).all()


def test_a_penalty_weighs_alike_whatever_the_units_of_what_errors_go_along_with():
    rng = np.random.default_rng(0)
    along = rng.standard_normal((200, 2))
    errors = along @ np.array([[0.5], [-0.2]]) + 0.1 * rng.standard_normal((200, 1))
    np.testing.assert_allclose(residualise(errors, along * [1e-3, 50.0]), residualise(errors, along), atol=1e-9)
    assert np.abs(residualise(errors, along * [1e-3, 50.0])).mean() < 0.1
