import pytest

from isthmus.core import Problem
from isthmus.io import write_json
from isthmus.transfer import Result
from isthmus.transfer.result import CurvePoint

STD = dict.fromkeys(("zero", "expert", "unadapted", "adapted"), 1.0)
SOUND = Result(
    *("reacher", "tilt=90", "inverse", 1, 0, 100, -40.0, -4.0, -6.0, -4.8, STD, 0.9, 0.97, 50),
    *((CurvePoint(0, 0.9, -6.0), CurvePoint(100, 0.97, -4.8)), {"fit": 1.0}, {"isthmus": "1"}),
)


def test_a_result_is_read_as_it_was_written(tmp_path):
    SOUND.save(tmp_path / "result.json")
    assert Result.load(tmp_path / "result.json") == SOUND


@pytest.mark.parametrize(
    "change", [{"recovered": "much"}, {"relative_loss": {"adapted": "x"}}, {"loss_in_stds": []}, {"adapted": "good"}]
)
def test_figures_of_another_type_are_refused_even_where_they_are_computed_again(tmp_path, change):
    write_json(tmp_path / "result.json", SOUND.to_json() | change)
    with pytest.raises(Problem, match=f"not a run's result .{next(iter(change))}"):
        Result.load(tmp_path / "result.json")


def test_a_result_with_the_names_of_an_earlier_version_is_read(tmp_path):
    figures = SOUND.to_json()
    earlier = {"std": "spread", "loss_in_stds": "loss_in_spreads"}
    write_json(tmp_path / "result.json", {earlier.get(name, name): value for name, value in figures.items()})
    assert Result.load(tmp_path / "result.json") == SOUND
