import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common.least_in_box import least_in_box


@given(st.integers(0, 1000))
def test_the_least_in_a_box_is_flat_or_held(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((6, 5, 5))
    hessian, slope = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(5), 3 * rng.standard_normal((6, 5))
    u, held = least_in_box(hessian, slope, np.full((6, 5), -0.5), np.full((6, 5), 0.7))
    gradient = np.einsum("nab,nb->na", hessian, u) + slope
    assert np.abs(gradient[~held]).max(initial=0) < 1e-7
    assert (gradient[held & (u == 0.7)] < 0).all()
    assert (gradient[held & (u == -0.5)] > 0).all()
    assert np.isin(u[held], (-0.5, 0.7)).all()
