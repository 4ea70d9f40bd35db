"""docs/deploy.md: its commands and its example run."""

import re
import shlex
from pathlib import Path

import numpy as np

from isthmus.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("isthmus.transfer.control_step.PATIENCE", 0.0)
    for line in blocks("console")[0].splitlines():
        words = shlex.split(line, comments=True)[1:]
        if words[0] == "transfer":
            words[words.index("--samples") + 1] = "60"
            words += ["--method", "residual-action", "--evaluation-episodes", "16", "--no-report"]
        if words[:2] == ["deploy", "run"]:
            words += ["--speed", "10"]
        main(words)
    said = capsys.readouterr().out
    assert "missed deadlines" in said
    assert "/observation.cos joint0" in said
    [example] = blocks("python")
    names = {}
    exec(compile(example, "deploy.md", "exec"), names)
    assert np.isfinite(names["command"]).all()
    assert (tmp_path / "runs" / "robot" / "report.json").exists()


def test_the_table_of_files_is_what_a_bundle_has(reacher_bundle):
    shown = set(re.findall(r"`([a-z/*.]+\.(?:json|xml|npz|onnx|h))`", PAGE))
    for path in reacher_bundle[0].rglob("*.*"):
        name = path.relative_to(reacher_bundle[0]).as_posix()
        assert name in shown or f"{name.partition('/')[0]}/*{path.suffix}" in shown, name
