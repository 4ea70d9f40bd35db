import dataclasses
import json

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.core import Problem
from isthmus.experiments import study_seeds
from isthmus.experiments.plot import plot_curve
from isthmus.experiments.seeds import SeedStudy
from isthmus.transfer import Config, RunFolder, run_transfer
from isthmus.transfer.source.policy import PolicyFile

TINY = Config(
    "reacher",
    "tilt=90",
    "pd",  # which learns without torch
    samples=60,
    round_samples=30,
    evaluation_episodes=50,
    settings=MethodSettings(fit=FitSettings(epochs=2)),
)


def test_a_study_is_its_runs_put_together_and_goes_on_where_it_was(tmp_path):
    alone = run_transfer(dataclasses.replace(TINY, seed=1), RunFolder(tmp_path / "seed-001"))
    seen = []
    study = study_seeds(TINY, range(2), tmp_path, 2, seen.append)
    assert [len(progress.found) for progress in seen] == [0, 1, 2]
    assert study.results[1] == alone  # the run that was there is taken as it is, timings and all
    figures = json.loads((tmp_path / "study.json").read_text())
    assert figures["normalised_adapted"]["seeds"] == [result.normalised_adapted for result in study.results]
    assert figures["normalised_adapted"]["worst"] == min(figures["normalised_adapted"]["seeds"])
    assert [point["samples"] for point in figures["curve"]] == [0, 30, 60]
    plot_curve(study, tmp_path / "study.svg")
    assert (tmp_path / "study.svg").read_text().startswith("<?xml")


def test_a_study_says_how_to_make_it_again():
    retrained = dataclasses.replace(TINY, method="auto", settings=MethodSettings(may_retrain=True))
    theirs = dataclasses.replace(TINY, policy=PolicyFile("their policy.npz", layout="v5", digest="known"))
    for config, whose, how in (
        (TINY, "", "--method pd"),
        (retrained, "", "--method auto --may-retrain"),
        (theirs, "--policy 'their policy.npz' --layout v5 ", "--method pd"),
    ):
        command = SeedStudy(config, ()).command
        assert (
            command == f"isthmus experiment seeds reacher {whose}--gap tilt=90 {how} --samples 60 --history 1 --seeds 0"
        )


def test_a_study_of_no_seeds_is_refused(tmp_path):
    with pytest.raises(Problem, match="at least one seed"):
        study_seeds(TINY, [], tmp_path, 1, lambda _: None)


def test_a_study_whose_folder_leads_elsewhere_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "seed-000").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="seed-000 is a symbolic link"):
        study_seeds(TINY, range(1), tmp_path / "out", 1, lambda _: None)
    assert not list((tmp_path / "elsewhere").iterdir())
