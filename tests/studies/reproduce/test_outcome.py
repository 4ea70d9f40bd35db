import dataclasses
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.data import write_json
from isthmus.studies.reproduce.outcome import Outcome, samples_until
from isthmus.studies.reproduce.store import Store

SHARE = 0.75
SCORES = st.lists(st.one_of(st.floats(-1, 2), st.sampled_from([SHARE, 0.7499, 1.0])), max_size=12)


@st.composite
def curves(draw):
    """An unadapted score, then the score after every round."""
    scores = draw(SCORES)
    steps = draw(st.lists(st.integers(1, 500), min_size=len(scores), max_size=len(scores)))
    return [(0, draw(st.floats(-1, 2))), *zip(accumulate(steps), scores, strict=True)]


def held(curve, place):
    return curve[place][1] >= SHARE and curve[place + 1][1] >= SHARE


@given(curves())
def test_it_is_the_first_of_the_first_two_in_a_row(curve):
    found = samples_until(SHARE, curve)
    places = [place for place in range(1, len(curve) - 1) if held(curve, place)]
    assert found == (curve[places[0]][0] if places else None)


@given(curves(), SCORES)
def test_what_comes_after_does_not_matter(curve, later):
    found = samples_until(SHARE, curve)
    if found is not None:
        longer = [*curve, *((curve[-1][0] + 1 + i, score) for i, score in enumerate(later))]
        assert samples_until(SHARE, longer) == found
        stopped = curve[: 2 + next(i for i, point in enumerate(curve) if point[0] == found)]
        assert samples_until(SHARE, stopped) == found  # a run that ends once it is enough counts the same


@given(curves(), st.floats(-1, 2))
def test_the_unadapted_policy_does_not_count(curve, unadapted):
    assert samples_until(SHARE, [(0, unadapted), *curve[1:]]) == samples_until(SHARE, curve) != 0


@given(curves(), st.floats(0, 0.5))
def test_a_lower_share_is_held_no_later(curve, less):
    high, low = samples_until(SHARE, curve), samples_until(SHARE - less, curve)
    assert high is None or (low is not None and low <= high)


def test_once_is_not_enough():
    assert samples_until(SHARE, [(0, 0.9), (250, 0.8), (500, 0.7), (750, 0.8)]) is None
    assert samples_until(SHARE, [(0, 0.1), (250, 0.8), (500, 0.7), (750, 0.75), (1000, 0.75)]) == 750


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"config": [1]}, "config"),
        ({"robot": ["reacher"]}, "robot"),
        ({"adapted": "good"}, "adapted"),
        ({"seed": 0.5}, "seed"),
        ({"curve": [[0, "low"]]}, "curve"),
        ({"curve": [[0, 0.5, 1]]}, "curve"),
        ({"versions": None}, "versions"),
    ],
)
def test_a_cell_with_a_field_of_another_type_is_refused(tmp_path, change, fault):
    sound = Outcome("reacher", "none", "adapted", 0, 0.7, 0.9, 100, None, ((0, 0.7), (100, 0.9)), {}, "digest", {})
    write_json(tmp_path / "sound.json", dataclasses.asdict(sound))
    assert Outcome.load(tmp_path / "sound.json") == sound
    write_json(tmp_path / "cell.json", dataclasses.asdict(sound) | change)
    with pytest.raises(Problem, match=f"not a cell's figures .{fault}.*remove it"):
        Outcome.load(tmp_path / "cell.json")


@pytest.mark.parametrize("content", [{"cell": "long"}, {"cell": None}])
def test_times_that_are_no_numbers_are_refused(tmp_path, content):
    write_json(tmp_path / "seconds.json", content)
    with pytest.raises(Problem, match="how long cells took"):
        Store(tmp_path).seconds()
