"""What every driver keeps to, with the robot's end in the same process."""

import threading
import time
from uuid import uuid4

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.hardware import Stop
from isthmus.hardware.address import open_driver, parse_address
from isthmus.hardware.driver import JointReading
from isthmus.hardware.goal import Cancel, Goal
from isthmus.hardware.processes import free_address
from isthmus.robots.fetch.arm import HOME, JOINTS

PATIENCE = 30.0
"""Seconds; on a machine that is busy with other tests."""


class Bench:
    """A driver, and the robot's end of it."""

    def __init__(self, driver, server):
        self.driver, self.server, self.heard = driver, server, []
        self.stop, self._numbers = Stop(), iter(range(10**6))
        server.open(self.heard.append, lambda _speed: None, simulated=False)
        self.tell()
        teller = threading.Thread(target=self._keep_telling, daemon=True)
        self.telling = True
        teller.start()
        self.clock = driver.connect(self.stop)

    def _keep_telling(self):
        while self.telling:
            self.tell()
            time.sleep(0.01)

    def tell(self):
        number = next(self._numbers)
        names = ("head_pan", *JOINTS)
        positions = np.concatenate(([9.0], HOME + 1e-3 * number))
        self.server.tell_joints(JointReading(100.0 + number, names, positions, 2 * positions), np.zeros(8))

    def observed(self, most=50):
        found, end = [], time.monotonic() + PATIENCE
        while len(found) < 3 and time.monotonic() < end:
            found += self.driver.observe(0.2)
        return found[:most]

    def until(self, holds):
        """Go on until something holds: messages take their time."""
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError("it did not come to that")
            self.driver.observe(0.05)

    def until_ready(self):
        """Go on until commands are taken."""
        self.until(lambda: self.driver.ready)

    def close(self):
        self.telling = False
        self.driver.close()
        self.server.close()


@pytest.fixture(params=["ros1", "ros2", "udp"])
def bench(request):
    made = Bench(*_ends(request))
    yield made
    made.close()


def _ends(request):
    if request.param == "ros1":
        address = request.getfixturevalue("master")
        from isthmus.hardware.ros1 import driver
        from isthmus.hardware.ros1.cord import Tie
        from isthmus.robots.fetch.standin import ros1_server
        from isthmus.robots.fetch.standin.ros1_server import Ros1Server

        # Both ends are one node here, and rospy takes a publisher that has just gone and a new one of the same node for
        # the same, and does not connect to it. So every test has topics of its own.
        patch, apart = request.getfixturevalue("monkeypatch"), uuid4().hex[:8]
        for name in ("GOAL", "CANCEL", "JOINT_STATES"):
            topic = f"{getattr(driver, name)}_{apart}"
            patch.setattr(driver, name, topic)
            patch.setattr(ros1_server, name, topic)
        return open_driver(address, JOINTS), Ros1Server(address, time.time, (Tie("a", (0, 0, 0)), Tie("b", (0, 0, 0))))
    address = free_address(request.param)
    if request.param == "ros2":
        pytest.importorskip("cyclonedds")
        from isthmus.hardware.ros2.server import Ros2Server

        return open_driver(address, JOINTS), Ros2Server(address, JOINTS)
    from isthmus.hardware.udp.server import UdpServer

    return open_driver(address, JOINTS), UdpServer(address, JOINTS)


def test_readings_come_by_name_and_in_order(bench):
    found = bench.observed()
    for reading in found:
        where = [reading.names.index(joint) for joint in JOINTS]
        np.testing.assert_allclose(reading.positions[where], HOME + 1e-3 * (reading.stamp - 100.0), atol=1e-12)
        np.testing.assert_allclose(reading.velocities[where], 2 * reading.positions[where])
    stamps = [reading.stamp for reading in found]
    assert stamps == sorted(set(stamps))
    assert not bench.clock.waits


def test_a_silent_robot_is_waited_for_and_not_for_long(bench):
    bench.observed()
    bench.telling = False
    bench.until(lambda: not bench.driver.observe(0.2))
    began = time.monotonic()
    assert not bench.driver.observe(0.1)
    assert time.monotonic() - began < PATIENCE


def test_commands_and_holds_arrive_in_order(bench):
    bench.until_ready()
    bench.driver.command(HOME + 0.25, 0.125, time.time())
    bench.driver.command(HOME - 0.5, 0.125, time.time())
    bench.until(lambda: any(isinstance(one, Goal) and (one.points[0][1] < HOME).all() for one in bench.heard))
    bench.driver.hold()
    bench.until(lambda: isinstance(bench.heard[-1], Cancel))
    last = [one for one in bench.heard if isinstance(one, Goal)][-1]
    assert last.names == JOINTS
    np.testing.assert_array_equal(last.points[0][1], HOME - 0.5)
    assert last.points[0][0] == pytest.approx(0.125, abs=1e-9)
    assert bench.heard[-1].everything


def test_a_hold_gets_through_while_another_thread_waits_for_readings(bench):
    bench.until_ready()
    bench.telling = False
    waiting = threading.Thread(target=lambda: bench.driver.observe(1.0))
    waiting.start()
    bench.driver.hold()
    end = time.monotonic() + PATIENCE
    while not bench.heard and time.monotonic() < end:
        time.sleep(0.01)
    waiting.join()
    assert isinstance(bench.heard[0], Cancel)


def test_it_can_be_closed_twice_and_connected_again(bench):
    bench.until_ready()
    bench.driver.close()
    bench.driver.close()
    bench.driver.hold()
    time.sleep(1.0)  # rospy needs a moment to see that a publisher of this node is gone
    clock = bench.driver.connect(bench.stop)
    assert clock is bench.clock
    assert len(bench.observed()) >= 3
    bench.until_ready()
    assert not bench.stop.asked


@pytest.mark.parametrize("address", ["ros2://3@lo/arm_controller/joint_trajectory", "ros://127.0.0.1:11311"])
def test_a_controller_of_positions_is_not_sent_efforts(address):
    with pytest.raises(Problem, match="takes positions"):
        open_driver(parse_address(address), JOINTS, "effort")


def test_an_address_that_is_none_names_those_there_are():
    with pytest.raises(Problem, match=r"ros2://DOMAIN@INTERFACE/CONTROLLER or udp://HOST:PORT"):
        parse_address("tcp://here")
