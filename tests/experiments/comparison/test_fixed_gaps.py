import json

import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison import fixed_gaps
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.fixed_gaps import fixed_gap_cases, run_fixed_gaps
from isthmus.experiments.comparison.fixed_gaps_page import write_fixed_gaps
from isthmus.experiments.comparison.settings import ORACLES_ON_PAGE, SUITE, SUITE_SEEDS
from isthmus.experiments.comparison.wins import records


def test_the_suite_has_the_robots_and_gaps_it_promises():
    gaps = {task: {case.gap for case in fixed_gap_cases() if case.task == task} for task in SUITE}
    assert min(len(gaps[task]) for task in ("reacher", "hopper")) >= 6
    assert min(len(gaps[task]) for task in ("half-cheetah", "humanoid")) >= 3
    assert all(gap in gaps[task] for task, gap in ORACLES_ON_PAGE)
    assert SUITE_SEEDS >= 3
    for case in fixed_gap_cases():
        case.check()


@pytest.fixture
def comparisons(tiny, make_row):
    """Two gaps: on one pd is best by far; on the other explained is level with doing nothing, and pd is worse."""
    case = tiny("pd,residual-action")
    known = {"even": {"normalised": 0.3, "standard_error": 0.01, "out_of_reach": 1.0}}
    one = (make_row("unadapted", 0.5, 0.5), make_row("pd", 0.9, 0.9), make_row("residual-action", 0.6, 0.6))
    other = (make_row("unadapted", 0.9, 0.9), make_row("pd", 0.2, 0.2), make_row("residual-action", 0.9, 0.9))
    return [Comparison(case, 2, one, known), Comparison(tiny("pd,residual-action", default_episodes=60), 2, other, {})]


def test_where_each_method_wins_is_told_by_the_figures(comparisons):
    idle, pd, explained = records(comparisons)
    assert pd.cells == ("pd", "1", "1", "1", "1", "2")
    assert explained.cells == ("residual-action", "0", "1", "1", "0", "2")
    assert idle.cells == ("unadapted", "1", "1", "0", "0", "2")
    assert (
        pd.sentence == "pd is the one to take on reacher (tilt=90), and does worse than nothing on reacher (tilt=90)."
    )
    assert explained.sentence == "residual-action is level with the best on reacher (tilt=90)."


def test_who_sees_the_reward_stands_apart(comparisons, make_row, kinds):
    first = comparisons[0]
    cheat = make_row(kinds("cheat", sees="all", sees_reward=True), 1.2, 1.2)
    *_, record = records([Comparison(first.case, 2, (*first.rows, cheat), {})])
    assert record.taken == []
    assert record.best == [first.case.name]
    assert record.sentence.endswith("It sees the target's reward, and is never the advice.")


def test_the_files_say_what_to_take_and_what_is_missing(comparisons, make_row, tmp_path):
    empty = Comparison(
        comparisons[0].case, 2, (make_row("unadapted", missing=(0, 1)), make_row("pd", missing=(0, 1))), {}
    )
    begun = Comparison(
        comparisons[0].case, 2, (make_row("unadapted", 0.5, missing=(1,)), make_row("pd", missing=(0, 1))), {}
    )
    write_fixed_gaps([*comparisons, empty, begun], "isthmus experiment fixed-gaps", tmp_path)
    text = (tmp_path / "compare.md").read_text()
    assert "| reacher | tilt=90 | 0.500 ± 0.000 | pd | 0.900 ± 0.000 | 0.300 |" in text
    assert "| reacher | tilt=90 | missing | missing | missing | missing |" in text
    assert "| reacher | tilt=90 | 0.500 | unadapted so far | 0.500 | missing |" in text
    assert "13 runs, 7 missing." in text
    assert "| pd | missing | 0 of 2 |" in text
    plain = json.loads((tmp_path / "compare.json").read_text())
    assert [one["take"] for one in plain["comparisons"]] == ["pd", "unadapted", None, "unadapted"]
    assert "curves" not in plain["comparisons"][0]["rows"][0]
    assert (tmp_path / "compare.svg").read_bytes().startswith(b"<?xml")
    assert "Where each method wins" in (tmp_path / "compare.html").read_text()


def test_ceilings_stand_beside_what_is_reached_where_they_are_asked_for(comparisons, tmp_path, monkeypatch):
    monkeypatch.setattr("isthmus.experiments.comparison.fixed_gaps_page.ORACLES_ON_PAGE", (("reacher", "tilt=90"),))
    known = {"normalised": 0.8, "standard_error": 0.01, "out_of_reach": 1.0}
    first = comparisons[0]
    both = Comparison(first.case, 2, first.rows, {**first.oracle_scores, "root": known})
    write_fixed_gaps([both], "isthmus experiment fixed-gaps", tmp_path)
    text = (tmp_path / "compare.md").read_text()
    assert "0.300 with equal weights, and 0.800 with weights on the unactuated root" in text
    assert "The best that is reached is 0.900, by pd." in text


def test_a_suite_runs_what_is_named_and_writes_its_results(tmp_path, in_process, monkeypatch, tiny):
    monkeypatch.setattr(fixed_gaps, "fixed_gap_cases", lambda: [tiny("pd")])
    run_fixed_gaps(tmp_path / "work", tmp_path / "results", "isthmus experiment fixed-gaps", seeds=1, only=["reacher"])
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        *("compare.html", "compare.json", "compare.md", "compare.svg")
    }
    with pytest.raises(Problem, match=r"unknown task of the fixed gaps 'reachr'.*did you mean 'reacher'"):
        run_fixed_gaps(tmp_path / "work", tmp_path / "results", "", seeds=1, only=["reachr"])
    with pytest.raises(Problem, match=r"unknown method of the fixed gaps 'outo'.*did you mean 'auto'"):
        run_fixed_gaps(tmp_path / "work", tmp_path / "results", "", seeds=1, methods=["outo"])


def test_methods_that_are_named_run_without_the_others_and_the_ceilings(tmp_path, in_process, monkeypatch, tiny):
    monkeypatch.setattr(fixed_gaps, "fixed_gap_cases", lambda: [tiny("pd,residual-action")])
    run_fixed_gaps(tmp_path / "work", tmp_path / "results", "", seeds=1, methods=["pd"])
    assert in_process == ["reacher, tilt=90, pd, seed 0"]
