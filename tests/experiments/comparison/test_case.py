import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison import Case
from isthmus.experiments.comparison.case import Entry, choose_entries, parse_episodes


def case(task="hopper", **changes):
    return Case(task, "gravity=1.10", 4000, choose_entries("inverse,gaussian"), **changes)


def test_the_gap_is_kept_in_one_form():
    assert case().gap == "gravity=1.1"


def test_slow_methods_are_judged_over_fewer_episodes_where_episodes_are_long():
    assert case().episodes_of(Entry("gaussian")) < case().episodes_of(Entry("inverse"))
    assert case("reacher").episodes_of(Entry("gaussian")) == case("reacher").episodes_of(Entry("inverse"))


def test_episodes_are_a_choice_of_every_method():
    chosen = case(default_episodes=60, episodes={"gaussian": 3, "inverse": 70})
    assert [chosen.episodes_of(Entry(name)) for name in ("pd", "gaussian", "inverse")] == [60, 3, 70]
    assert chosen.config(Entry("gaussian"), 1).evaluation_episodes == 3


def test_the_crossing_of_an_entry_has_its_method_history_and_seed():
    config = case().config(Entry("inverse", 2), 4)
    assert (config.task, config.gap, config.method) == ("hopper", "gravity=1.1", "inverse")
    assert (config.settings.history, config.seed, config.samples) == (2, 4, 4000)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", (50, {})),
        ("80", (80, {})),
        ("60, gaussian=8,pd=70", (60, {"gaussian": 8, "pd": 70})),
        ("gaussian=8", (50, {"gaussian": 8})),
    ],
)
def test_episodes_are_read(text, read):
    assert parse_episodes(text) == read


def test_episodes_that_are_no_number_are_refused():
    with pytest.raises(Problem, match="'gaussian=few' needs a whole number"):
        parse_episodes("50,gaussian=few")


def test_episodes_of_nobody_are_refused():
    with pytest.raises(Problem, match="unknown method 'gausian'"):
        case(episodes={"gausian": 8})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"default_episodes": 10}, "evaluation-episodes must be at least 50, got 10"),
        ({"oracle_episodes": 0}, "episodes must be at least 1, got 0"),
    ],
)
def test_what_nobody_could_run_is_refused_before_anything_is_run(changes, message):
    with pytest.raises(Problem, match=message):
        case(**changes).check()


def test_a_gap_that_does_not_fit_is_refused():
    with pytest.raises(Problem, match="does not fit this robot"):
        Case("hopper", "tilt=45", 100, choose_entries("pd")).check()
