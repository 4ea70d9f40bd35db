"""The same log in every format."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

SPEC = importlib.util.spec_from_file_location("log_writers", Path(__file__).parent / "writers.py")
writers = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(writers)


@pytest.fixture(scope="session")
def expected():
    time, position, velocity = writers.motion()
    return SimpleNamespace(time=time, position=position, velocity=velocity, joints=writers.JOINTS)


@pytest.fixture(params=writers.WRITERS)
def kind(request):
    """The name of each format in turn."""
    return request.param


@pytest.fixture(scope="session")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return {name: write(folder / file) for name, (file, write) in writers.WRITERS.items()}
