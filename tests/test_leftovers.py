"""Nothing is left in the home folder or the temporary folder, by a run that is killed or by the tests."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LITTER = """
import tempfile

def test_that_leaves_something():
    tempfile.mkdtemp(prefix="litter-")
"""


@pytest.fixture
def places(tmp_path):
    """An environment whose home and temporary folder are empty, and these."""
    folders = {name: tmp_path / name for name in ("HOME", "TMPDIR")}
    for folder in folders.values():
        folder.mkdir()
    chosen = ("XDG_", "SB3_", "TORCHINDUCTOR_")
    others = {name: value for name, value in os.environ.items() if not name.startswith(chosen)}
    return {**others, **{name: str(folder) for name, folder in folders.items()}}, list(folders.values())


def left(folders):
    return [path for folder in folders for path in folder.rglob("*")]


def test_a_killed_run_leaves_nothing_outside_its_folder(places, tmp_path):
    environment, folders = places
    options = ["--gap", "tilt=90", "--method", "inverse", "--samples", "100", "--round-samples", "50", "--no-report"]
    options += ["--fit.epochs", "3", "--evaluation-episodes", "50", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "isthmus", "transfer", "reacher", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (tmp_path / "run" / "models" / "000.npz").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "run" / "models" / "000.npz").exists()
    assert left(folders) == []


def test_drawing_leaves_no_list_of_fonts_in_the_home_folder(places):
    environment, folders = places
    subprocess.run([sys.executable, "-c", "import isthmus.experiments.plot"], env=environment, check=True)
    assert left(folders) == []


def test_a_session_of_tests_that_leaves_something_fails(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_litter.py").write_text(LITTER)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout
    assert "left behind in the home or the temporary folder:\n  TMPDIR/litter-" in done.stdout
    assert done.returncode == 1
