import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("tiny.py")


@pytest.fixture(scope="session")
def script():
    return SCRIPT


@pytest.fixture
def tiny():
    return runpy.run_path(str(SCRIPT))["tiny"]()
