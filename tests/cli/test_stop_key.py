import os
import pty
import sys
import time
from pathlib import Path

import pytest

from isthmus.cli.signals import has_keyboard, stop_key
from isthmus.hardware import Stop


@pytest.fixture
def keyboard(monkeypatch):
    """A terminal as standard input; gives the file at which its keys are pressed."""
    keys, terminal = pty.openpty()
    with os.fdopen(terminal) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        yield keys
    os.close(keys)


def asked(stop):
    end = time.monotonic() + 30.0
    while not stop.asked and time.monotonic() < end:
        time.sleep(0.005)
    return stop.asked


@pytest.mark.parametrize("pressed", [b" ", b"q", b"\x1b", b"ab "])
def test_a_key_asks_for_a_stop_though_others_came_before_it(keyboard, pressed):
    stop = Stop()
    with stop_key(stop):
        os.write(keyboard, pressed)
        assert asked(stop)
    assert stop.why == "stop key"


def test_other_keys_do_nothing(keyboard):
    stop = Stop()
    with stop_key(stop):
        os.write(keyboard, b"abc")
        time.sleep(0.1)
        assert not stop.asked


def test_a_keyboard_that_is_gone_asks_for_a_stop(monkeypatch):
    keys, terminal = pty.openpty()
    stop = Stop()
    with os.fdopen(terminal) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        with stop_key(stop):
            os.close(keys)
            assert asked(stop)
    assert stop.why == "keyboard gone"


def test_without_a_terminal_there_is_no_key(monkeypatch):
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert not has_keyboard()
        with stop_key(Stop()):
            pass
