import json
import re

import pytest

from isthmus.core.commit import EARLIER
from isthmus.experiments.paper import FIGURES, Summary
from isthmus.experiments.paper.cells import tallies
from isthmus.experiments.paper.settings import OURS, PAPERS

# As printed in the paper: no noise; std 0.2 with correlation 0, 0.9, 1; std 1.0 with the same.
PRINTED = {
    ("hopper", "no history"): "31 58 48 77 150 157 137",
    ("hopper", "history"): "24 31 29 28 70 121 47",
    ("humanoid", "no history"): "13 15 20 16 N/A N/A 155",
    ("humanoid", "history"): "16 17 19 16 N/A N/A 54",
}


def result(*scores):
    """A cell with these scores after 0, 1000, 2000, ... samples."""
    curve = [[1000 * i, score] for i, score in enumerate(scores)]
    versions = {"isthmus": "<b>0</b>"}
    return {
        "unadapted": scores[0],
        "normalised": scores[-1],
        "samples": curve[-1][0],
        "curve": curve,
        "versions": versions,
    }


def summary(figure, found, seeds):
    return Summary(figure, tallies(figure.cases, found, seeds))


@pytest.fixture
def figure():
    return FIGURES["figure-4"]()


@pytest.fixture
def hopper(figure):
    return next(case for case in figure.cases if case.gap == "motor-noise=1" and case.arm == "no history")


@pytest.fixture
def some(figure, hopper):
    """Three seeds of one case, of which one fails, and nothing else."""
    courses = {0: (0.2, 0.7, 0.8, 0.8), 1: (0.8, 0.8, 0.8), 2: (0.2, 0.8, 0.7, 0.8)}
    return {hopper.file(seed): result(*scores) for seed, scores in courses.items()}


def table(page):
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_the_page_has_the_numbers_of_the_paper_and_shows_what_is_missing(figure, tmp_path):
    summary(figure, {}, {"hopper": 10}).write(tmp_path)
    page = (tmp_path / "figure-4.html").read_text()
    for robot, section in zip(("hopper", "humanoid"), re.split(r"<h3>h\w+</h3>", page)[1:], strict=True):
        rows = [row for row in table(section) if row and row[0] in ("no history", "history")]
        for arm in ("no history", "history"):
            assert " ".join(row[3] for row in rows if row[0] == arm) == PRINTED[robot, arm]
        assert all(row[4] == "missing" for row in rows)
        assert {row[-2] for row in rows} == {"0 of 10"}
    assert "about 1000 (hopper) and about 70000 (humanoid)" in page
    assert (tmp_path / "figure-4.md").read_text().count(" missing ") == 28


def test_figure_3_gives_no_numbers_of_the_paper(tmp_path):
    figure = FIGURES["figure-3"]()
    summary(figure, {}, {}).write(tmp_path)
    assert "paper" not in " ".join(figure.columns)
    assert "plots only" in (tmp_path / "figure-3.html").read_text()
    assert all("paper" not in case for case in json.loads((tmp_path / "figure-3.json").read_text())["cases"])


def test_ours_stands_beside_the_papers(figure, hopper, some, tmp_path):
    done = summary(figure, some, {"hopper": 4})
    [case] = [case for case in done.to_json()["cases"] if case["seeds"]]
    assert (case["robot"], case["noise"], case["correlation"], case["arm"]) == ("hopper", 1.0, 0.0, "no history")
    assert case["samples"] == {"seeds": (2000, 1000, None), "median": 2000, "quartiles": [1500, None]}
    assert case["paper"] == 150_000
    assert case["ratio"] == pytest.approx(2 / 150)
    assert case["not_reached"] == 1
    assert case["unadapted_holds"] == 1
    assert case["missing"] == [3]
    done.write(tmp_path)
    [row] = [row for row in table((tmp_path / "figure-4.html").read_text()) if "150" in row]
    assert row == [
        *("no history", "1 / 0", hopper.config.method, "150", "2.00", f"1.50 to &gt;{hopper.config.samples // 1000}"),
        *("0.013", "1 of 3", f"{hopper.config.samples // 1000}", "0.20", "3 of 4", EARLIER),
    ]
    assert json.loads((tmp_path / "figure-4.json").read_text())["commands"] == [
        "isthmus experiment paper figure-4 --tasks hopper --seeds 4"
    ]


def test_the_page_needs_nothing_and_runs_nothing(figure, some, tmp_path):
    summary(figure, some, {"hopper": 3}).write(tmp_path)
    page = (tmp_path / "figure-4.html").read_text()
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "&lt;b&gt;0&lt;/b&gt;" in page  # text from files is text
    assert "<b>" not in page


def test_the_same_cells_give_the_same_files(figure, some, tmp_path):
    for name, found in (("a", some), ("b", dict(reversed(some.items())))):
        summary(figure, found, {"hopper": 3}).write(tmp_path / name)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_the_papers_network_is_counted_as_ours_is_and_shows_its_unadapted_score(tmp_path):
    figure = FIGURES["figure-4"](arms=(*OURS, *PAPERS))
    arms = ("history", "paper's network, history")
    mine, theirs = (
        next(case for case in figure.cases if case.gap == "none" and case.arm == arm and case.robot == "hopper")
        for arm in arms
    )
    done = summary(
        figure, {mine.file(0): result(0.2, 0.8, 0.8), theirs.file(0): result(0.2, 0.1, 0.8, 0.9)}, {"hopper": 1}
    )
    cases = {case["arm"]: case for case in done.to_json()["cases"] if case["seeds"]}
    assert [cases[arm]["samples"]["median"] for arm in arms] == [1000, 2000]
    assert cases[arms[0]]["paper"] == cases[arms[1]]["paper"] == 24_000
    assert [cases[arm]["unadapted"]["median"] for arm in arms] == [0.2, 0.2]
    done.write(tmp_path)
    assert "--arms ours paper" in (tmp_path / "figure-4.json").read_text()
    both = FIGURES["figure-3"](arms=(*OURS, *PAPERS))
    there = {case.file(0): result(0.2, 0.9) for case in both.cases if case.robot == "reacher"}
    summary(both, there, {"reacher": 1}).write(tmp_path)
    assert "paper&#39;s network, history" in (tmp_path / "figure-3.html").read_text()
