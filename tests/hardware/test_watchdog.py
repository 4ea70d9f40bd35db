import time

import pytest

from isthmus.hardware import Stop, Watchdog


@pytest.fixture
def dogs():
    made = []

    def make(*arguments, **options):
        made.append(Watchdog(*arguments, **options))
        return made[-1]

    yield make
    for dog in made:
        dog.close()


def until(holds, seconds=30.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def test_a_stop_is_seen_though_nothing_is_due(dogs):
    stop, holds = Stop(), []
    dog = dogs(lambda: "", lambda: holds.append(1), stop)
    time.sleep(0.05)
    assert not holds
    stop.ask("a key")
    assert until(lambda: holds)
    assert dog.tripped == "a key"


def test_a_hold_is_sent_as_often_as_was_asked_and_no_more(dogs):
    stop, holds = Stop(), []
    dogs(lambda: "", lambda: holds.append(1), stop, repeats=3)
    stop.ask("a key")
    assert until(lambda: len(holds) == 3)
    time.sleep(0.1)
    assert len(holds) == 3


def test_arming_does_not_take_the_holds_of_a_stop_back(dogs):
    stop, holds = Stop(), []
    dog = dogs(lambda: "", lambda: holds.append(1), stop, repeats=5)
    stop.ask("a key")
    for _ in range(100):
        dog.arm()
        time.sleep(0.001)
    assert until(lambda: len(holds) == 5)


def test_what_is_late_is_held_once_until_armed_again(dogs):
    holds = []
    dog = dogs(lambda: "late", lambda: holds.append(1))
    time.sleep(0.05)
    assert not holds
    dog.arm()
    assert until(lambda: holds)
    time.sleep(0.05)
    assert len(holds) == 1
    assert dog.tripped == "late"


def test_a_watchdog_that_cannot_tell_holds(dogs):
    holds = []

    def broken():
        raise RuntimeError("no idea")

    dog = dogs(broken, lambda: holds.append(1))
    dog.arm()
    assert until(lambda: holds)
    assert "no idea" in dog.tripped


def test_a_hold_that_fails_is_tried_again(dogs):
    tried = []

    def hold():
        tried.append(1)
        if len(tried) < 3:
            raise OSError("the wire is busy")

    dog = dogs(lambda: "late", hold, repeats=3)
    dog.arm()
    assert until(lambda: len(tried) == 3)
