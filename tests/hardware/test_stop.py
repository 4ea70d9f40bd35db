import signal
import threading
import time

import pytest

from isthmus.hardware import Stop


def test_a_wait_is_ended_by_a_stop_from_another_thread():
    stop = Stop()
    threading.Timer(0.05, stop.ask, ("a test",)).start()
    began = time.monotonic()
    assert stop.wait(30.0)
    assert time.monotonic() - began < 10
    assert stop.why == "a test"


def test_the_first_reason_is_kept():
    stop = Stop()
    stop.ask("first")
    stop.ask("second")
    assert stop.why == "first"


def test_without_a_stop_a_wait_lasts_as_long_as_it_should():
    assert not Stop().wait(0.01)


def test_asking_in_a_signal_handler_never_waits_for_whoever_it_interrupts():
    """An Event would: its lock may be held by the very code that the handler interrupted."""
    stop = Stop()
    before = signal.signal(signal.SIGALRM, lambda _number, _frame: stop.ask("alarm"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0002)
        for _ in range(300):
            stop.wait(0.0)
            stop.ask("again")
            stop = Stop()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not any(isinstance(value, threading.Event) for value in vars(stop).values())


def test_work_that_blocks_is_left_behind_by_a_stop():
    stop, free = Stop(), threading.Event()
    threading.Timer(0.05, stop.ask, ("a test",)).start()
    began = time.monotonic()
    assert stop.during(lambda: free.wait(30.0)) is None
    assert time.monotonic() - began < 10
    free.set()


def test_work_returns_what_it_returns_and_raises_what_it_raises():
    assert Stop().during(lambda: 5) == 5
    with pytest.raises(OSError, match="broken"):
        Stop().during(_broken)


def _broken():
    raise OSError("broken")
