import numpy as np
import pytest

from isthmus.cli.parse import parse
from isthmus.core import Problem
from isthmus.vision.randomise import Randomise
from isthmus.vision.ranges import Range


def test_a_range_is_written_as_two_numbers():
    assert Range.parse("1:4") == Range(1, 4)
    assert Range.parse("0.5") == Range(0.5, 0.5)
    assert Range.parse(str(Range(-0.25, 3))) == Range(-0.25, 3)


@pytest.mark.parametrize("text", ["", "a", "1:", "1:2:3", "4:1", "nan:1", "0:inf"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(Problem, match="range"):
        Range.parse(text)


def test_whole_numbers_of_a_range_are_equally_likely_and_reach_both_ends():
    drawn = [Range(2, 5).whole(share) for share in np.linspace(0, 1, 400, endpoint=False)]
    assert np.bincount(drawn).tolist() == [0, 0, 100, 100, 100, 100]


def test_every_range_can_be_set_on_the_command_line():
    command = parse(["vision", "preview", "--randomise.lights", "1:2", "--randomise.noise", "0"])
    assert command.randomise == Randomise(lights=Range(1, 2), noise=Range(0, 0))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"distractors": Range(0, 11)}, "distractors must be at most 10"),
        ({"lights": Range(0, 2)}, "lights must be at least 1"),
        ({"hard": 1.5}, "hard must be at most 1"),
        ({"kinds": ("flat", "marble")}, "kinds must be some of"),
        ({"gamma": Range(0, 1)}, "gamma must be at least"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(Problem, match=said):
        Randomise(**settings)
