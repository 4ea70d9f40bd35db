import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison.job import Placed, do


class Broken:
    def __init__(self, error):
        self.error, self.name = error, "broken"

    def run(self, _folder):
        raise self.error


@pytest.mark.parametrize(
    "error", [Problem("no robust policy"), FloatingPointError("diverged"), np.linalg.LinAlgError("singular")]
)
def test_what_cannot_be_done_says_why(tmp_path, error):
    assert do(Placed(Broken(error), tmp_path)) == {"problem": str(error)}


def test_a_mistake_of_ours_is_not_hidden(tmp_path):
    with pytest.raises(TypeError):
        do(Placed(Broken(TypeError("a bug")), tmp_path))
