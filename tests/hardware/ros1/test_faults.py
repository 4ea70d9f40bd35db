"""Everything that can go wrong on the wire, with a real roscore: nothing hangs, nothing collected is lost."""

import subprocess
import sys
import time

import numpy as np
import pytest

from isthmus.adapt.settings import CollectSettings
from isthmus.core import History, Lost, PolicyWrapper, stream
from isthmus.hardware.ros1.bindings import Graph, message
from isthmus.hardware.ros1.messages import STOP
from isthmus.policies import Unadapted
from isthmus.robots.fetch.arm import JOINTS, REACH
from isthmus.sim import SealedRobot
from isthmus.transfer.collection import ReferenceRollout, collect

STEPS = 20


def swing(world, policy, steps=STEPS):
    """What is seen in so many steps of a swing (steps + 1, obs)."""
    seen = [world.reset(stream(0, "reset"))]
    for _ in range(steps):
        seen.append(world.step(policy(History.of(seen[-1]))).observations)
    return np.concatenate(seen)


def within_limits(seen):
    return bool((np.abs(seen[:, :7]) <= REACH + 0.02).all())


def test_a_swing_goes_well(master, robot, world_at, fetch):
    with robot():
        world = world_at(master)
        seen = swing(world, fetch.policy)
    assert within_limits(seen)
    assert np.ptp(seen[:, :7], axis=0).max() > 0.1
    assert world.pace.steps == STEPS
    assert world.pace.lost == 0


@pytest.mark.parametrize(
    ("fault", "count"),
    [
        ("--faults.drop=0.2", None),
        ("--faults.delay=0.03", None),
        ("--faults.reorder=0.3", "disordered"),
        ("--faults.nan=0.3", "broken"),
        ("--faults.wrong-name=0.3", "foreign"),
    ],
)
def test_bad_messages_are_survived_and_counted(master, robot, world_at, fetch, fault, count):
    with robot(fault, "--patience=0.2"):
        world = world_at(master)
        seen = swing(world, fetch.policy)
        traffic = world._link.traffic
    assert np.isfinite(seen).all()
    assert within_limits(seen)
    assert world.pace.steps == STEPS
    if count is not None:
        assert getattr(traffic, count) > 0


def test_a_robot_that_dies_in_mid_swing_is_noticed_and_what_was_collected_is_kept(master, robot, world_at, fetch):
    with robot() as process:
        world = world_at(master, patience=0.5)
        target = SealedRobot(world)
        decider = Dying(Unadapted(fetch.policy, fetch.source()), process, after=10)
        course = ReferenceRollout(fetch.policy, fetch.source(), 1, np.ones(16))
        settings = CollectSettings(interrupt=0.0, drift=1e9)
        kept = collect(target, decider, course, settings, history=1, length=60, budget=60, rng=stream(0, "collect"))
        assert kept[0][0].samples == 9
        assert within_limits(kept[0][0].observations)
        with pytest.raises(Lost, match="not been heard of"):
            world.reset(stream(0, "reset"))


class Dying(PolicyWrapper):
    """A policy during whose control the robot's process is killed."""

    def __init__(self, policy, process, after):
        self.policy, self._process, self._left = policy, process, after

    def decide(self, history, state):
        self._left -= 1
        if self._left == 0:
            self._process.kill()
            self._process.wait()
        return self.policy.decide(history, state)


def test_a_robot_that_comes_back_is_used_again(master, robot, world_at, fetch):
    with robot() as process:
        world = world_at(master, patience=2.0)
        swing(world, fetch.policy, 5)
        process.kill()
        process.wait()
        with pytest.raises(Lost):
            swing(world, fetch.policy, 5)
    with robot():
        seen = swing(world, fetch.policy, 5)
    assert len(seen) == 6


def test_the_stop_topic_holds_the_arm(master, robot, world_at, fetch):
    with robot():
        world = world_at(master)
        swing(world, fetch.policy, 8)
        stop = Graph(master, "tests").publish(STOP, message("std_msgs/Empty"), latch=True)
        stop.publish(message("std_msgs/Empty")())
        deadline = time.monotonic() + 5.0
        while not world._link.stop.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(Lost, match="emergency stop"):
            swing(world, fetch.policy, 8)
        stop.unregister()


CONTROLLER = """
import sys
import numpy as np
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.arm_link import RosArmLink
from isthmus.robots.fetch.arm import HOME, JOINTS
import time
link = RosArmLink(Address.parse(sys.argv[1]), JOINTS)
while not link.connected or link.heard() is None:
    time.sleep(0.01)
print("connected", flush=True)
for step in range(1000):
    link.send([(0.1, HOME + 0.3 * np.sin(step / 3))])
    time.sleep(0.1)
"""


def test_an_arm_holds_when_its_controller_is_killed(master, robot, world_at):
    with robot(speed=1.0):
        world = world_at(master)
        controller = subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, str(master)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            assert controller.stdout is not None
            assert b"connected" in controller.stdout.readline()
            time.sleep(1.0)
        finally:
            controller.kill()
            controller.wait()
            if controller.stdout:
                controller.stdout.close()
        time.sleep(1.0)
        first = world._link.heard()
        time.sleep(0.3)
        last = world._link.heard()
    assert first is not None
    assert last is not None
    assert last.stamp > first.stamp
    assert np.abs(last.positions - first.positions).max() < 0.01
    assert (np.abs(last.positions) <= REACH).all()


def test_a_control_loop_that_overruns_finds_the_arm_held(master, robot, world_at, fetch):
    with robot(speed=1.0):
        world = world_at(master)
        seen = swing(world, fetch.policy, 3)
        time.sleep(1.0)
        with pytest.raises(Lost, match="no command came"):
            world.step(fetch.policy(History.of(seen[-1:])))


def test_joints_are_known_by_name(master, robot, world_at):
    with robot():
        world = world_at(master)
        seen = world.reset(stream(0, "reset"))
    assert seen[0, JOINTS.index("elbow_flex_joint")] == pytest.approx(0.9, abs=0.05)
