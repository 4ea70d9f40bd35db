import pytest

from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"hidden": (256, 0)}, "hidden"),
        ({"epochs": 0}, "epochs"),
        ({"patience": 0}, "patience"),
        ({"batch": 0}, "batch"),
        ({"learning_rate": 0.0}, "learning-rate"),
        ({"learning_rate": 1.0}, "learning-rate"),
        ({"learning_rate": float("nan")}, "learning-rate"),
        ({"weight_decay": -1e-4}, "weight-decay"),
        ({"validation": 0.0}, "validation"),
        ({"validation": 0.6}, "validation"),
    ],
)
def test_numbers_that_make_no_sense_are_a_problem(change, name):
    with pytest.raises(Problem, match=rf"fit\.{name} cannot be"):
        FitSettings(**change)


def test_the_network_of_the_paper_is_the_default():
    assert FitSettings().hidden == (256, 256)
