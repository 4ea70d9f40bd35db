import pytest

from isthmus.core import Problem
from isthmus.experiments.store import CellFiles, expert_digest
from isthmus.io import write_json

RESULT = {
    "unadapted": 0.7,
    "normalised": 0.9,
    "samples": 100,
    "curve": [[0, 0.7], [100, 0.9]],
    "versions": {"isthmus": "1"},
}


@pytest.fixture
def stored(tiny, tmp_path):
    """Writes a file of a cell, of the current form or the earlier one; returns how it is loaded."""
    cell, store = tiny.cases[0].cell(0), CellFiles(tmp_path)

    def write(change, *, earlier=False):
        result, known = RESULT | change, {"expert": expert_digest(cell.task)}
        if earlier:
            adapted = result.pop("normalised")
            named = {"robot": "reacher", "gap": "none", "arm": "adapted", "seed": 0, "samples_to_share": None}
            data = known | named | {"config": cell.settings, "adapted": adapted} | result
        else:
            data = known | {"settings": cell.settings, "found": result}
        write_json(store.cell_path(cell), data)
        return lambda: store.load(cell)

    return write


@pytest.mark.parametrize("earlier", [False, True])
def test_a_result_of_either_form_is_read_again(stored, earlier):
    assert stored({}, earlier=earlier)() == RESULT


@pytest.mark.parametrize("change", [{"robot": ["reacher"]}, {"seed": 0.5}, {"samples_to_share": "few"}])
def test_an_earlier_cell_whose_name_is_of_another_type_is_refused(stored, change):
    with pytest.raises(Problem, match=rf"not the result of a cell \({next(iter(change))}.*remove it"):
        stored(change, earlier=True)()


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        {"normalised": "good"},
        {"samples": 0.5},
        {"curve": [[0, "low"]]},
        {"curve": [[0, 0.5, 1]]},
        {"curve": 3},
        {"versions": None},
    ],
)
def test_a_result_with_a_field_of_another_type_is_refused(stored, change, earlier):
    with pytest.raises(Problem, match=rf"not the result of a cell \({next(iter(change))}.*remove it"):
        stored(change, earlier=earlier)()
