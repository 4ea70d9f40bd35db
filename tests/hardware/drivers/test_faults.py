"""Everything that can go wrong on the wire, over ROS 1 and ROS 2: nothing hangs, nothing collected is lost."""

import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from isthmus.adapt.settings import CollectSettings
from isthmus.core import History, Lost, PolicyWrapper, stream
from isthmus.experiments.faults.overhear import overhear
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


def test_a_swing_goes_well(place, robot, world_at, fetch):
    with robot():
        world = world_at(place)
        seen = swing(world, fetch.policy)
    assert within_limits(seen)
    assert np.ptp(seen[:, :7], axis=0).max() > 0.1
    assert world.pace.steps == STEPS
    assert world.pace.lost == 0


# Three commands that are lost in a row rightly hold the arm. With this seed that does not happen.
DROPS = "--seed=1"
EACH = [
    (("--faults.drop=0.2", DROPS), ()),
    (("--faults.delay=0.03",), ()),
    (("--faults.reorder=0.3",), ("disordered",)),
    (("--faults.nan=0.3",), ("broken",)),
    (("--faults.wrong-name=0.3",), ("foreign",)),
]
ALL = (
    (
        DROPS,
        "--faults.drop=0.1",
        "--faults.delay=0.02",
        "--faults.reorder=0.2",
        "--faults.nan=0.2",
        "--faults.wrong-name=0.2",
    ),
    ("disordered", "broken", "foreign"),
)


@pytest.mark.parametrize(
    ("transport", "faults", "counts"),
    [*(("ros1", *one) for one in EACH), ("ros2", *ALL)],
    indirect=["transport"],
)
def test_bad_messages_are_survived_and_counted(place, robot, world_at, fetch, faults, counts):
    with robot(*faults, "--patience=0.2"):
        world = world_at(place)
        seen = swing(world, fetch.policy)
        traffic = world._link.traffic
    assert np.isfinite(seen).all()
    assert within_limits(seen)
    assert world.pace.steps == STEPS
    for count in counts:
        assert getattr(traffic, count) > 0


def test_a_robot_that_dies_in_mid_swing_is_noticed_and_what_was_collected_is_kept(place, robot, world_at, fetch):
    with robot() as process:
        world = world_at(place, patience=0.5)
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


def test_a_robot_that_comes_back_is_used_again(place, robot, world_at, fetch):
    with robot() as process:
        world = world_at(place, patience=2.0)
        swing(world, fetch.policy, 5)
        process.kill()
        process.wait()
        with pytest.raises(Lost):
            swing(world, fetch.policy, 5)
    with robot():
        seen = swing(world, fetch.policy, 5)
    assert len(seen) == 6


@contextmanager
def stop_topic(place):
    """Publishes a stop as a bystander would."""
    overheard = overhear(place)
    try:
        yield overheard
    finally:
        overheard.close()


@pytest.mark.parametrize("transport", ["ros1", "ros2"], indirect=True)
def test_the_stop_topic_holds_the_arm(place, robot, world_at, fetch):
    with robot(), stop_topic(place) as bystander:
        world = world_at(place)
        swing(world, fetch.policy, 8)
        deadline = time.monotonic() + 30.0
        while not bystander.heeded() and time.monotonic() < deadline:
            time.sleep(0.01)
        bystander.stop()
        while not world._link.stop.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(Lost, match="emergency stop"):
            swing(world, fetch.policy, 8)


CONTROLLER = """
import sys
import numpy as np
from isthmus.hardware.address import open_driver, parse_address
from isthmus.hardware.link import Link
from isthmus.robots.fetch.arm import HOME, JOINTS
import time
link = Link(open_driver(parse_address(sys.argv[1]), JOINTS))
link.release()
while not link.connected or link.heard() is None:
    time.sleep(0.01)
print("connected", flush=True)
for step in range(1000):
    link.send(HOME + 0.3 * np.sin(step / 3), 0.1)
    time.sleep(0.1)
"""


def test_an_arm_holds_when_its_controller_is_killed(place, robot, world_at):
    with robot(speed=1.0):
        world = world_at(place)
        controller = subprocess.Popen(
            [sys.executable, "-c", CONTROLLER, str(place)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            assert controller.stdout is not None
            assert b"connected" in controller.stdout.readline()
            before = next_of(world)
            for _ in range(3000):
                if np.abs(next_of(world).positions - before.positions).max() > 0.05:
                    break  # it has set out
        finally:
            controller.kill()
            controller.wait()
            if controller.stdout:
                controller.stdout.close()
        first, last = next_of(world, after=0.5), next_of(world, after=0.3)  # seconds of the robot's own time
    assert np.abs(last.positions - first.positions).max() < 0.01
    assert np.abs(first.positions - before.positions).max() > 0.01
    assert (np.abs(last.positions) <= REACH).all()


def next_of(world, after=0.01, patience=30.0):
    """What the robot says of itself once that much of its own time has passed."""
    end, first = time.monotonic() + patience, world._link.heard()
    while first is None or world._link.heard().stamp < first.stamp + after:
        assert time.monotonic() < end
        time.sleep(0.01)
        first = first or world._link.heard()
    return world._link.heard()


def test_a_control_loop_that_overruns_finds_the_arm_held(place, robot, world_at, fetch):
    with robot(speed=1.0):
        world = world_at(place)
        seen = swing(world, fetch.policy, 3)
        time.sleep(1.0)
        with pytest.raises(Lost, match="no command came"):
            world.step(fetch.policy(History.of(seen[-1:])))


def test_joints_are_known_by_name(place, robot, world_at):
    with robot():
        world = world_at(place)
        seen = world.reset(stream(0, "reset"))
    assert seen[0, JOINTS.index("elbow_flex_joint")] == pytest.approx(0.9, abs=0.05)
