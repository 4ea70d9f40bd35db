import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison import cells


@pytest.mark.parametrize(
    "error", [Problem("no robust policy"), FloatingPointError("diverged"), np.linalg.LinAlgError("singular")]
)
def test_a_method_without_a_result_says_why(tiny, tmp_path, monkeypatch, error):
    case = tiny()

    def fail(*_args, **_how):
        raise error

    monkeypatch.setattr(cells, "transfer", fail)
    monkeypatch.setattr(cells, "oracle_score", fail)
    assert cells.method_cell(case, case.entries[0], 0).run(tmp_path) == {"problem": str(error)}
    assert cells.oracle_cell(case, "even").run(tmp_path) == {"problem": str(error)}


def test_a_bug_is_not_hidden(tiny, tmp_path, monkeypatch):
    case = tiny()

    def fail(_config, _folder):
        raise TypeError

    monkeypatch.setattr(cells, "transfer", fail)
    with pytest.raises(TypeError):
        cells.method_cell(case, case.entries[0], 0).run(tmp_path)
