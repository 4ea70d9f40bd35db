"""Sources without actions, from the command line."""

import json

import numpy as np
import pytest

import isthmus
from isthmus.cli import main
from isthmus.io import load_arrays, save_arrays
from isthmus.logs import read_log
from isthmus.logs.observations import observations_of
from isthmus.robots import load_task
from isthmus.transfer.source.reference import read_reference

BUDGET = ("--samples", "60", "--round-samples", "30", "--evaluation-episodes", "50", "--fit.epochs", "2")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "reach.npz"
    main(["policy", "record", "reacher", "--episodes", "3", "--out", str(path), "--json"])
    return path


def as_csv(recorded, path):
    spec = load_task("reacher").robot_model.spec
    rows = [",".join(["time", *spec.observation_names, "episode"])]
    for number, track in enumerate(read_reference(recorded, spec).tracks):
        for step, seen in enumerate(track.tolist()):
            rows.append(",".join(map(repr, (10.0 * number + step * spec.control_period, *seen, number))))
    path.write_text("\n".join(rows))
    return path


def test_a_recording_can_be_a_table_which_holds_the_same(recorded, tmp_path, capsys):
    table = tmp_path / "reach.csv"
    assert run("policy", "record", "reacher", "--episodes", "3", "--out", str(table)) == 0
    spec = load_task("reacher").robot_model.spec
    header = table.read_text().splitlines()[0]
    assert header == ",".join(("time", "episode", *spec.observation_names))
    read = observations_of(read_log(table), spec.observation_names, spec.control_period)
    tracks = read_reference(recorded, spec).tracks
    assert len(read.tracks) == len(tracks) == 3
    for ours, theirs in zip(read.tracks, tracks, strict=True):
        assert np.array_equal(ours, theirs)
    assert run("policy", "record", "reacher", "--out", str(tmp_path / "reach.bag")) == 2
    assert "is written as .npz or .csv" in capsys.readouterr().err
    assert not (tmp_path / "reach.bag").exists()


def run(*arguments):
    """The exit code."""
    try:
        main(arguments)
    except SystemExit as end:
        return end.code
    return 0


def cross(source, out, *more):
    return run("transfer", "reacher", "--gap", "tilt=45", "--source", str(source), "--out", str(out), *more)


def test_a_log_is_followed_and_the_run_is_reported_and_exported(recorded, tmp_path, capsys):
    log, out = as_csv(recorded, tmp_path / "reach.csv"), tmp_path / "run"
    assert cross(log, out, *BUDGET, "--no-video", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["method"], result["samples"]) == ("inverse", 60)
    page = (out / "report.html").read_text()
    assert "recording without actions" in page
    assert "Keep the policy as it is" not in page
    log.unlink()  # the run has what it needs beside it
    assert run("report", str(out), "--no-video") == 0
    assert run("deploy", "export", str(out), "--out", str(tmp_path / "bundle")) == 2
    assert "run.reference.npz: name it by --source" in capsys.readouterr().err.replace("\n", "")
    assert not (tmp_path / "bundle").exists()
    kept = ["--source", str(tmp_path / "run.reference.npz")]
    assert run("deploy", "export", str(out), *kept, "--out", str(tmp_path / "bundle")) == 0
    assert isthmus.load_policy(tmp_path / "bundle").act([0.1] * 11).shape == (2,)


def test_a_run_goes_on_only_with_the_observations_it_was_begun_with(recorded, tmp_path, capsys):
    log, out = as_csv(recorded, tmp_path / "reach.csv"), tmp_path / "run"
    assert cross(log, out, *BUDGET, "--no-report", "--json") == 0
    first = json.loads(capsys.readouterr().out)
    kept = (tmp_path / "run.reference.npz").read_bytes()
    assert cross(log, out, *BUDGET, "--no-report", "--json", "--resume") == 0
    assert json.loads(capsys.readouterr().out)["adapted"] == first["adapted"]
    log.write_text("\n".join(log.read_text().splitlines()[:-1]))
    assert cross(log, out, *BUDGET, "--no-report", "--resume") == 2
    assert "other observations" in capsys.readouterr().err.replace("\n", " ")
    assert cross(log, out, *BUDGET, "--no-report") == 2
    assert (tmp_path / "run.reference.npz").read_bytes() == kept


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "gaussian"), "asks no policy"),
        (("--method", "mpc"), "mpc"),
        (("--policy", "other.onnx"), "exclude each other"),
        (("--method", "model-inverse", "--follow", "clone"), "follow is for --method inverse"),
        (("--gap", "tilt=nowhere"), "tilt"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(recorded, tmp_path, capsys, options, words):
    log = as_csv(recorded, tmp_path / "reach.csv")
    (tmp_path / "other.onnx").write_bytes(b"")
    options = [str(tmp_path / one) if one == "other.onnx" else one for one in options]
    assert cross(log, tmp_path / "run", *BUDGET, *options) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.onnx", "reach.csv"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("order", "columns in another order: column 0 is 'cos joint1', expected 'cos joint0'"),
        ("robot", "columns of another robot"),
        ("period", "an observation every 0.1 s, and the robot is controlled every 0.02 s"),
        ("nan", "not a finite number in row 3, column 1"),
    ],
)
def test_a_reference_of_another_robot_is_refused(recorded, tmp_path, capsys, change, words):
    arrays, about = load_arrays(recorded, "reference")
    names, seen = list(about["names"]), np.array(arrays["observations"])
    if change == "order":
        names[:2] = names[1::-1]
    elif change == "robot":
        names[0] = "knee"
    elif change == "nan":
        seen[3, 1] = np.nan
    period = 0.1 if change == "period" else about["period"]
    path = tmp_path / "foreign.npz"
    save_arrays(path, {**arrays, "observations": seen}, {**about, "names": names, "period": period})
    assert cross(path, tmp_path / "run", *BUDGET) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()
