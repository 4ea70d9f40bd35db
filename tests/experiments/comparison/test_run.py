import dataclasses
import json
import signal
import subprocess
import sys
import time

import pytest

from isthmus.core import Problem
from isthmus.experiments.comparison import compare
from isthmus.experiments.comparison.comparison import Comparison
from isthmus.experiments.comparison.settings import ORACLE_EPISODES
from isthmus.experiments.comparison.write import write_comparison
from isthmus.transfer import PolicyFile


def figures(comparison):
    """What a comparison comes to, but for how long it took."""
    return [(row["method"], row["normalised"], row["spread"], row["samples"]) for row in comparison["rows"]]


def test_a_comparison_has_a_row_a_method_a_ceiling_and_advice(tiny, tmp_path, in_process):
    [done] = compare([tiny("residual-action,pd")], tmp_path, seeds=2)
    plain = done.to_json()
    assert [row["method"] for row in plain["rows"]] == ["unadapted", "residual-action", "pd"]
    assert [row["samples"] for row in plain["rows"]] == [0, 60, 60]
    assert all(row["step_microseconds"] > 0 and row["fit_seconds"] >= 0 for row in plain["rows"])
    assert plain["rows"][1]["normalised"] > plain["rows"][0]["normalised"]
    assert plain["ceiling"]["even"]["oracle"]
    assert plain["ceiling"]["even"]["normalised"] > plain["rows"][0]["normalised"]
    assert plain["take"] in plain["advice"]
    made = (
        "isthmus compare reacher --gap tilt=90 --samples 60 --methods residual-action,pd --oracle-episodes 2 --seeds 2"
    )
    assert plain["command"] == made
    assert not any((tmp_path / "runs").iterdir())


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ({"oracle_episodes": ORACLE_EPISODES}, ""),
        ({"metrics": ()}, "--no-oracle "),
        ({"metrics": (), "default_episodes": 60, "episodes": {"pd": 70}}, "--episodes 60,pd=70 --no-oracle "),
        ({"metrics": (), "episodes": {"pd": 70}}, "--episodes pd=70 --no-oracle "),
        ({"policy": PolicyFile("p.npz", digest="known")}, "--policy p.npz --oracle-episodes 2 "),
    ],
)
def test_a_comparison_says_how_to_make_it_again(tiny, changes, options):
    command = Comparison(tiny(**changes), 2, (), {}).command
    assert command == f"isthmus compare reacher --gap tilt=90 --samples 60 --methods pd {options}--seeds 2"


def test_what_is_done_is_not_done_again_and_more_seeds_go_on_from_fewer(tiny, tmp_path, in_process):
    [first] = compare([tiny()], tmp_path, seeds=1)
    in_process.clear()
    [again] = compare([tiny()], tmp_path, seeds=1)
    assert in_process == []
    assert again.to_json() == first.to_json()
    compare([tiny()], tmp_path, seeds=2)
    assert in_process == ["reacher, tilt=90, unadapted, seed 1", "reacher, tilt=90, pd, seed 1"]


def test_a_method_that_cannot_serve_says_so_in_its_row_and_the_others_go_on(tiny, tmp_path, in_process, kinds):
    def refuse(_source, _settings):
        raise Problem("this robot has no legs")

    kinds("walk", make=refuse)
    [done] = compare([tiny("walk,pd")], tmp_path, seeds=1)
    write_comparison(done, tmp_path)
    unadapted, walk, pd = done.to_json()["rows"]
    assert walk["problem"] == "this robot has no legs"
    assert walk["normalised"] is None
    assert unadapted["problem"] is pd["problem"] is None
    assert pd["normalised"] is not None
    assert done.advice.take in {"unadapted", "pd"}
    for name in ("compare.md", "compare.html"):
        assert "this robot has no legs" in (tmp_path / name).read_text()
    rows, notes = done.brief()
    assert rows[1][:2] == ("walk", "cannot")
    assert "walk: this robot has no legs" in notes
    in_process.clear()
    compare([tiny("walk,pd")], tmp_path, seeds=1)
    assert in_process == ["reacher, tilt=90, walk, seed 0"]  # perhaps it can by now


def test_what_is_there_is_shown_after_every_piece_with_the_rest_missing(tiny, tmp_path, in_process):
    shown = []
    compare([tiny()], tmp_path, seeds=1, show=lambda some: shown.append(some[0].to_json()))
    assert [[len(row["missing"]) for row in one["rows"]] for one in shown] == [[1, 1], [0, 1], [0, 0], [0, 0]]
    assert shown[0]["take"] is None
    assert "runs of pd are missing" in shown[1]["advice"]
    assert [list(one["ceiling"]) for one in shown] == [[], [], [], ["even"]]


def test_what_is_not_wanted_is_not_run(tiny, tmp_path, in_process):
    cases = [tiny(), dataclasses.replace(tiny(), task="hopper", gap="gravity=1.1")]
    done = compare(cases, tmp_path, seeds=1, tasks=["reacher"])
    assert all(name.startswith("reacher") for name in in_process)
    assert [row.missing for row in done[1].rows] == [(0,), (0,)]


def test_a_piece_of_other_settings_is_refused(tiny, tmp_path, in_process):
    compare([tiny()], tmp_path, seeds=1)
    with pytest.raises(Problem, match=r"was made with other settings \(evaluation_episodes was 50, is 60\)"):
        compare([tiny("pd", default_episodes=60)], tmp_path, seeds=1)


@pytest.mark.parametrize(
    ("how", "message"), [({"seeds": 0}, "seeds must be"), ({"workers": 0, "seeds": 1}, "workers must be")]
)
def test_what_makes_no_sense_is_refused(tiny, tmp_path, how, message):
    with pytest.raises(Problem, match=message):
        compare([tiny()], tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()


def test_a_comparison_killed_in_the_middle_comes_to_the_same_figures(tmp_path, holders, eventually):
    command = [sys.executable, "-m", "isthmus", "compare", "reacher", "--gap", "tilt=90", "--samples", "60"]
    command += ["--methods", "pd", "--seeds", "2", "--workers", "1", "--no-oracle", "--json", "--out"]
    whole = json.loads(subprocess.run([*command, str(tmp_path / "whole")], capture_output=True, check=True).stdout)
    out = tmp_path / "killed"
    with subprocess.Popen([*command, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list(out.glob("runs/*/episodes/*.npz")):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    eventually(lambda: not holders(out))  # workers end with the comparison
    assert len(list(out.glob("cells/*.json"))) < 4
    resumed = json.loads(subprocess.run([*command, str(out)], capture_output=True, check=True).stdout)
    assert figures(resumed) == figures(whole)
