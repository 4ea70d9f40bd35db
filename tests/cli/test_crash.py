import pytest

from isthmus.cli import main
from isthmus.cli.list import Tasks
from isthmus.cli.report import Report
from isthmus.core import Problem


def crash(monkeypatch, command, error=None):
    def fail(_self):
        raise error or ZeroDivisionError("the third line\nof something")

    monkeypatch.setattr(command, "run", fail)


def test_a_fault_of_the_program_is_a_sentence_a_file_and_exit_code_3(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    crash(monkeypatch, Tasks)
    with pytest.raises(SystemExit) as stopped:
        main(["list", "tasks"])
    assert stopped.value.code == 3
    [line] = capsys.readouterr().err.splitlines()
    [file] = tmp_path.iterdir()
    assert line.startswith("isthmus: something went wrong that should not have (ZeroDivisionError: the third line); ")
    assert file.name in line
    text = file.read_text()
    assert "command: ['list', 'tasks']" in text
    assert "Traceback (most recent call last)" in text
    assert "ZeroDivisionError: the third line\nof something" in text


def test_the_file_is_in_the_run_folder_if_the_command_names_one(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    crash(monkeypatch, Report)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(SystemExit, match="3"):
        main(["report", "run"])
    assert [one.name for one in tmp_path.iterdir()] == ["run"]
    assert "run/isthmus-crash-" in capsys.readouterr().err


def test_a_traceback_that_cannot_be_kept_is_shown(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    crash(monkeypatch, Tasks)
    folder.rmdir()
    with pytest.raises(SystemExit, match="3"):
        main(["list", "tasks"])
    said = capsys.readouterr().err
    assert "no file could be written for the traceback, so here it is\n" in said
    assert "Traceback (most recent call last)" in said


def test_names_in_strangers_files_do_not_steer_the_terminal(monkeypatch, capsys):
    crash(monkeypatch, Tasks, Problem("no \x1b]0;title\x07 \x1b[2J here\nat all"))
    with pytest.raises(SystemExit, match="2"):
        main(["list", "tasks"])
    said = capsys.readouterr().err
    assert "\x1b]" not in said
    assert "\x1b[2J" not in said
    assert len(said.splitlines()) == 1
