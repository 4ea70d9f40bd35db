import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isthmus.core import commit
from isthmus.core.commit import EARLIER, UNKNOWN, commits_of

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


def said(package):
    """What a copy of the module says of the package it lies in."""
    code = f"import runpy; print(runpy.run_path({str(package / 'core' / 'commit.py')!r})['current_commit']())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def git(folder, *words):
    return subprocess.run((*GIT, "-C", folder, *words), check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def package(tmp_path):
    (tmp_path / "src" / "core").mkdir(parents=True)
    shutil.copy(Path(commit.__file__), tmp_path / "src" / "core")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    return tmp_path / "src"


def test_a_checkout_says_its_commit_and_whether_its_files_were_changed(package):
    assert said(package) == UNKNOWN  # installed inside somebody else's checkout
    git(package, "add", ".")
    git(package, "commit", "-q", "-m", "second")
    head = git(package, "rev-parse", "--short=7", "HEAD")
    (package.parent / "results.json").write_text("{}")  # results beside the code do not change the code
    assert said(package) == head
    with (package / "core" / "commit.py").open("a") as file:
        file.write("# changed\n")
    assert said(package) == f"{head}+changes"


def test_outside_a_checkout_the_commit_is_unknown(tmp_path):
    (tmp_path / "core").mkdir()
    shutil.copy(Path(commit.__file__), tmp_path / "core")
    assert said(tmp_path) == UNKNOWN


def test_results_that_record_no_commit_are_of_an_early_one():
    assert commits_of([{"commit": "b"}, {"commit": "a", "numpy": "2"}, {"commit": "b"}]) == ["a", "b"]
    assert commits_of([{"numpy": "2"}]) == [EARLIER]
