import pytest

from isthmus.cli.grid_progress import grid_progress, result_text
from isthmus.experiments.grid import Cell, Progress


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"unadapted": 0.5, "normalised": 0.9}, "0.500 -> 0.900"),
        ({"normalised": 0.9}, "0.900"),
        ({"problem": "no legs"}, "no legs"),
        ({"distances": [0.1]}, "done"),
    ],
)
def test_a_result_is_told_in_a_line(result, text):
    assert result_text(result) == text


def test_every_cell_has_a_line_and_its_name_is_left_as_it_is(capsys):
    with grid_progress("gaps") as watch:
        watch(Progress({}, 2))
        watch(Progress({"a": {"normalised": 0.9}}, 2, Cell("random:100", "a", print)))
    assert "1 of 2: random:100: 0.900" in capsys.readouterr().err
