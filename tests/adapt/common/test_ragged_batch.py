import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isthmus.adapt.common.ragged_batch import RaggedBatch


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.booleans())
def test_rows_come_back_and_runs_keep_their_order(runs, grouped):
    runs = np.array(sorted(runs) if grouped else runs)
    rows = np.column_stack((runs, np.arange(len(runs)))) + 1
    places = RaggedBatch.of(runs)
    whole = places.pad(rows)
    np.testing.assert_array_equal(places.gather(whole), rows)
    assert whole.shape[:2] == (np.bincount(runs).max(), len(set(runs.tolist())))
    for column, run in zip(whole.swapaxes(0, 1), np.unique(runs), strict=True):
        there = column[: (runs == run).sum()]
        np.testing.assert_array_equal(there, rows[runs == run])
        assert not column[len(there) :].any()
