import fcntl
import shutil
from contextlib import contextmanager

import pytest

from isthmus.adapt import MethodSettings
from isthmus.adapt.settings import FitSettings
from isthmus.report import write_report
from isthmus.report.run import Run
from isthmus.transfer import Config, RunFolder, run_transfer


@contextmanager
def alone(tmp_path_factory, worker):
    """A folder that all test processes share, held by one of them."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker == "master" else base.parent) / "report-tests"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield shared


@pytest.fixture(scope="session")
def worker(request):
    """Name of this test process."""
    return getattr(request.config, "workerinput", {"workerid": "master"})["workerid"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker):
    """A tiny real run; not to be changed."""
    settings = MethodSettings(fit=FitSettings(epochs=3))
    config = Config(
        "reacher", "tilt=90", "inverse", samples=100, round_samples=50, evaluation_episodes=50, settings=settings
    )
    with alone(tmp_path_factory, worker) as shared:
        folder = RunFolder(shared / "run")
        if not folder.result_path.exists():
            run_transfer(config, folder)
    return folder


@pytest.fixture(scope="session")
def filmed(finished, tmp_path_factory, worker):
    """The page of that run, with its video; not to be changed."""
    with alone(tmp_path_factory, worker) as shared:
        folder = RunFolder(shared / "filmed")
        if not folder.report_path.exists():
            shutil.copytree(finished.path, folder.path)
            write_report(folder)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of the run, to be changed at will: it has no manifest, so that changed files are read."""
    shutil.copytree(finished.path, tmp_path / "run", ignore=shutil.ignore_patterns("manifest.json"))
    return RunFolder(tmp_path / "run")


@pytest.fixture(scope="session")
def run(finished):
    return Run.load(finished)
