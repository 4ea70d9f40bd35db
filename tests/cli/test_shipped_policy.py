"""A policy that ships is named like one; a file of that name comes first."""

from pathlib import Path

import pytest

from isthmus.cli.arguments import PolicyOptions
from isthmus.core import Problem


def test_a_policy_that_ships_brings_its_observation_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = PolicyOptions(policy=Path("anymal-blind")).file
    assert Path(file.path).name == "anymal-blind.onnx"
    assert file.observation_spec == str(Path(file.path).with_suffix(".observation.toml"))


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "anymal-blind").write_bytes(b"mine")
    file = PolicyOptions(policy=Path("anymal-blind")).file
    assert (file.path, file.observation_spec) == ("anymal-blind", None)


def test_a_name_that_does_not_ship_is_a_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Problem, match="cannot read the policy file anymal-seeing"):
        _ = PolicyOptions(policy=Path("anymal-seeing")).file
