"""What the link does with a driver that misbehaves."""

import time

import numpy as np
import pytest

from isthmus.core import Lost, Problem
from isthmus.hardware import Stop, Unsafe
from isthmus.hardware.clock import WallClock
from isthmus.hardware.driver import JointReading
from isthmus.hardware.link import LISTEN, Link


class FakeDriver:
    """Tells of two joints, or fails."""

    joints, commands, ready = ("a", "b"), "position", True

    def __init__(self):
        self.sent, self.holds, self.closed, self.error = [], 0, 0, None

    def connect(self, stop):
        return WallClock()

    def observe(self, patience):
        time.sleep(0.001)
        if self.error is not None:
            raise self.error
        return [JointReading(time.time(), ("b", "a"), np.array([2.0, 1.0]), np.zeros(2))]

    def command(self, values, seconds, now):
        self.sent.append((values.tolist(), seconds))

    def hold(self):
        self.holds += 1

    def close(self):
        self.closed += 1


@pytest.fixture
def driver():
    return FakeDriver()


@pytest.fixture
def link(driver):
    made = Link(driver)
    yield made
    made.close()


def until(holds):
    end = time.monotonic() + 30.0
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    assert holds()


def test_joints_are_put_in_the_order_of_commands(link):
    assert link.meet(10.0)
    until(lambda: link.heard() is not None)
    assert link.heard().positions.tolist() == [1.0, 2.0]


def test_nothing_is_sent_before_it_is_released_and_nothing_after_a_hold(link, driver):
    with pytest.raises(Unsafe):
        link.send(np.ones(2), 0.1)
    link.release()
    link.send(np.ones(2), 0.1)
    link.hold()
    with pytest.raises(Unsafe):
        link.send(np.zeros(2), 0.1)
    assert driver.sent == [([1.0, 1.0], 0.1)]
    assert driver.holds == 1


def test_nothing_is_sent_after_a_stop(link, driver):
    link.release()
    link.stop.ask("a key")
    with pytest.raises(Unsafe):
        link.send(np.ones(2), 0.1)
    assert not driver.sent


@pytest.mark.parametrize(("error", "said"), [(OSError("gone"), "cannot read the robot"), (Problem("no"), "^no$")])
def test_a_driver_that_fails_is_a_fault_until_it_works_again(link, driver, error, said):
    driver.error = error
    until(lambda: link.fault)
    import re

    assert re.search(said, link.fault)
    driver.error = None
    until(lambda: not link.fault)


def test_it_leaves_the_robot_holding(driver):
    Link(driver).close()
    assert driver.holds >= 3
    assert driver.closed == 1


def test_a_stop_ends_waiting_for_a_robot(driver):
    driver.connect = lambda _stop: time.sleep(20 * LISTEN)
    stop = Stop()
    stop.ask("a key")
    with pytest.raises(Lost, match="a key"):
        Link(driver, stop)
