import pytest
from isthmus.data import write_json

from isthmus.core import Problem
from isthmus.transfer import Result
from isthmus.transfer.result import CurvePoint

SPREAD = dict.fromkeys(("zero", "expert", "unadapted", "adapted"), 1.0)
SOUND = Result(
    *("reacher", "tilt=90", "inverse", 1, 0, 100, -40.0, -4.0, -6.0, -4.8, SPREAD, 0.9, 0.97, 50),
    *((CurvePoint(0, 0.9, -6.0), CurvePoint(100, 0.97, -4.8)), {"fit": 1.0}, {"isthmus": "1"}),
)


def test_a_result_is_read_as_it_was_written(tmp_path):
    SOUND.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == SOUND


@pytest.mark.parametrize(
    "change", [{"recovered": "much"}, {"relative_loss": {"adapted": "x"}}, {"loss_in_spreads": []}, {"adapted": "good"}]
)
def test_figures_of_another_type_are_refused_even_where_they_are_computed_again(tmp_path, change):
    write_json(tmp_path / "result.json", SOUND.to_json() | change)
    with pytest.raises(Problem, match=f"not a run's result .{next(iter(change))}"):
        Result.load(tmp_path / "result.json")
