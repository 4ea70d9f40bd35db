"""No example that is not run."""

import re
import shlex
from pathlib import Path

import pytest

from isthmus.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(
    {line for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL) for line in block.splitlines()}
)


def test_the_python_example_works(tmp_path, monkeypatch, capsys):
    [example] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    before, after = map(float, re.findall(r"\d\.\d\d", capsys.readouterr().out))
    assert after > before


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("isthmus ")])
def test_every_command_is_understood(line, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([*shlex.split(line)[1:], "--help"])
    assert stopped.value.code == 0
    assert "usage: isthmus" in capsys.readouterr().out


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("make ")])
def test_every_make_target_exists(line):
    target = line.split()[1]
    assert re.search(rf"^{target}:", (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_everything_the_readme_points_to_is_there():
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (Path(__file__).parents[1] / link).exists(), link
