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


def test_a_clock_agrees_with_the_system_when_it_is_made_whatever_was_set_before(monkeypatch):
    system = time.time
    earlier = WallClock()
    monkeypatch.setattr(time, "time", lambda: system() + 50.0)  # somebody sets the system's clock
    assert abs(WallClock().now() - time.time()) < 1.0
    assert abs(earlier.now() - system()) < 1.0  # no step reaches a control loop that runs
