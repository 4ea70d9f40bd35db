import pytest

from isthmus.adapt import METHODS
from isthmus.core import Problem
from isthmus.experiments.comparison.case import Entry, choose_entries


def test_all_is_every_method_of_the_registry_with_the_expert_as_it_is_first(kinds):
    added = kinds("newcomer")
    entries = choose_entries()
    assert entries[0] == Entry("unadapted")
    assert {entry.method for entry in entries} == set(METHODS)
    assert added in entries
    assert len(set(entries)) == len(entries)


def test_the_inverse_network_takes_part_without_and_with_history():
    assert [entry.label for entry in choose_entries("inverse")] == ["unadapted", "inverse", "inverse, history 2"]


def test_methods_are_picked_by_name_and_the_expert_as_it_is_stays():
    assert [entry.method for entry in choose_entries("gaussian, output-error")] == [
        *("unadapted", "gaussian", "output-error")
    ]
    assert choose_entries("unadapted") == (Entry("unadapted"),)


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(Problem, match=r"unknown method 'gausian': choose from .*all.*did you mean 'gaussian'"):
        choose_entries("pd,gausian")


def test_whoever_sees_the_targets_reward_is_marked():
    """What a method sees is told in words for people; a reward among them is the source's, or it is marked."""
    for kind in METHODS.values():
        words = kind.sees.lower().replace("source's reward", "").replace("source's cost", "")
        assert kind.sees_reward == ("reward" in words), kind.name
