import threading
import time

import pytest

from isthmus.hardware import Stop
from isthmus.hardware.clock import TopicClock, WallClock


@pytest.mark.parametrize("kind", [WallClock, TopicClock])
def test_a_stop_ends_the_wait_for_a_deadline(kind):
    clock, stop = kind(), Stop()
    threading.Timer(0.05, stop.ask, ("a test",)).start()
    began = time.monotonic()
    assert not clock.wait_until(clock.now() + 30.0, 30.0, stop)
    assert time.monotonic() - began < 10


def test_a_deadline_comes():
    clock = WallClock()
    assert clock.wait_until(clock.now() + 0.02, 1.0, Stop())
