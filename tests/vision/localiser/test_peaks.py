import numpy as np
import pytest

from isthmus.vision.localiser.peaks import find_peaks, softmax


def bump(rows, columns, x, y, width=0.8):
    down, across = np.mgrid[:rows, :columns] + 0.5
    return np.exp(-((across - x) ** 2 + (down - y) ** 2) / (2 * width**2))


def test_a_place_between_cells_is_found():
    heat = bump(20, 30, 12.3, 7.8)
    [peak] = find_peaks(heat / heat.sum(), 1)
    assert peak.at == pytest.approx([12.3, 7.8], abs=0.03)
    assert peak.mass > 0.98
    assert peak.spread == pytest.approx(0.8, rel=0.05)


def test_candidates_do_not_pull_at_each_other():
    heat = 0.6 * bump(20, 30, 5.5, 5.2) + 0.4 * bump(20, 30, 22.1, 14.7)
    first, second = find_peaks(heat / heat.sum(), 2)
    assert first.at == pytest.approx([5.5, 5.2], abs=0.03)
    assert second.at == pytest.approx([22.1, 14.7], abs=0.03)
    assert first.mass / second.mass == pytest.approx(1.5, rel=0.02)


def test_places_at_the_edge_are_within_the_map():
    heat = bump(10, 10, 0.2, 9.9)
    [peak] = find_peaks(heat / heat.sum(), 1)
    assert 0 <= peak.at[0] < 1.2
    assert 8.8 < peak.at[1] <= 10


def test_softmax_bears_large_numbers():
    assert softmax(np.array([1000.0, 1000.0, -1000.0])) == pytest.approx([0.5, 0.5, 0])
