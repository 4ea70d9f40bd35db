import time
from contextlib import suppress
from pathlib import Path

import pytest


def at_work(folder: Path) -> list[int]:
    """The processes that hold a run below `folder`."""
    found = []
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            held = descriptor.readlink()
            if held.name == ".lock" and held.is_relative_to(folder):
                found.append(int(descriptor.parts[2]))
    return found


@pytest.fixture
def holders():
    return at_work


@pytest.fixture
def eventually():
    """Wait for something to come true, and give it back."""

    def wait(condition, seconds=120):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if value := condition():
                return value
            time.sleep(0.002)
        raise TimeoutError

    return wait
