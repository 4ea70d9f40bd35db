"""All tests here need the wheel that has ANYmal's model."""

import pytest

from isthmus.core import Problem
from isthmus.robots.anymal.model import urdf_path


@pytest.fixture(autouse=True, scope="session")
def _installed():
    try:
        urdf_path()
    except Problem:
        pytest.skip("needs isthmus[anymal]")
