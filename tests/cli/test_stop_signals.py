import hashlib
import os
import signal
import threading
import time

import pytest

from isthmus.cli.signals import Interrupted, exit_code, stop_signals
from isthmus.hardware import Stop


@pytest.mark.parametrize(
    ("number", "why", "code"),
    [(signal.SIGINT, "Ctrl-C", 130), (signal.SIGTERM, "SIGTERM", 143), (signal.SIGHUP, "SIGHUP", 129)],
)
def test_a_signal_asks_for_a_stop_and_ends_what_is_going_on(number, why, code):
    stop, before = Stop(), signal.getsignal(number)
    with pytest.raises(Interrupted), stop_signals(stop):
        get(number)
    assert stop.why == why
    assert exit_code(stop) == code
    assert signal.getsignal(number) is before


def get(number):
    os.kill(os.getpid(), number)
    time.sleep(30.0)


def test_another_signal_does_not_interrupt_the_end():
    ended = []
    with pytest.raises(Interrupted), stop_signals(Stop()):
        get_two(ended)
    assert ended


def get_two(ended):
    try:
        get(signal.SIGTERM)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        ended.append(True)


def test_a_stop_does_not_wait_for_the_main_thread_to_come_back_from_a_computation():
    stop, seen, done = Stop(), [], []

    def look():
        os.kill(os.getpid(), signal.SIGTERM)
        if stop.wait(30.0):
            seen.append(time.monotonic())

    looking = threading.Timer(0.05, look)
    with pytest.raises(Interrupted), stop_signals(stop):
        compute_beside(looking, done)
    looking.join()
    assert seen[0] < done[0]


def compute_beside(looking, done):
    """Compute in C for a while: Python's own handler does not run before that is done."""
    looking.start()
    try:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000)
    finally:
        done.append(time.monotonic())


def test_ctrl_c_stops_a_robot_that_a_script_moves_in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell starts it
    stop = Stop()
    try:
        with pytest.raises(Interrupted), stop_signals(stop):
            signal.raise_signal(signal.SIGINT)
        assert stop.why == "Ctrl-C"
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_hangup_that_is_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = Stop()
    try:
        with stop_signals(stop):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.wait(0.1)
    finally:
        signal.signal(signal.SIGHUP, before)
