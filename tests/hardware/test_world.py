"""RobotWorld over a link that is not ROS: what it does with what it hears."""

import os
import threading
import time

import numpy as np
import pytest

from isthmus.core import Lost, stream
from isthmus.hardware import Stop
from isthmus.hardware.clock import TopicClock, WallClock
from isthmus.hardware.listener import Heard, Traffic
from isthmus.robots.fetch.arm import HOME, REACH, SPEED_LIMITS


class StillArm:
    """An arm that is at once where it is sent to, and whose time stands still in between."""

    def __init__(self):
        self.clock, self.traffic = TopicClock(), Traffic()
        self.clock.set(1.0)
        self.stop, self.fault = Stop(), ""
        self.connected, self.silent, self.holds, self.held = True, False, 0, True
        self.sent = []
        self._heard = Heard(1.0, HOME.copy(), np.zeros(7))

    def heard(self):
        return self._heard

    def send(self, positions, after):
        begin = self.clock.now()
        if not self.silent:
            self.sent.append((after, positions))
            self._heard = Heard(begin + after, positions, np.zeros(7))
            self.clock.set(begin + after)
        return begin

    def hold(self):
        self.holds += 1
        self.held = True

    def release(self):
        self.held = False

    def reconnect(self):
        pass

    def close(self):
        self.hold()


def go_on(world, pan=0.0, *, moving=False):
    """Give commands until something is wrong, but not for ever; the shoulder is panned further by each."""
    command = HOME.copy()
    for _ in range(20):
        if moving:
            world.reset(stream(0, "reset"))
        command[0] += pan
        world.step(command[None])


@pytest.fixture
def arm():
    return StillArm()


@pytest.fixture
def world(arm, over):
    return over(arm, patience=0.1)


def test_an_episode_begins_where_the_task_says(world):
    seen = world.reset(stream(0, "reset"))
    np.testing.assert_allclose(seen[0, :7], HOME)
    assert seen[0, 14] == 0.0


def test_the_applied_command_is_what_was_sent(world, arm):
    world.reset(stream(0, "reset"))
    step = world.step(HOME[None] + 5.0)
    np.testing.assert_array_equal(step.applied[0], arm.sent[-1][1])
    assert (step.applied[0] < HOME + 0.5).all()
    assert world.pace.steps == 1


def test_the_clock_of_the_task_goes_on(world):
    world.reset(stream(0, "reset"))
    assert world.step(HOME[None]).observations[0, 14] == pytest.approx(0.1)


def test_a_silent_robot_is_lost_and_held(world, arm):
    world.reset(stream(0, "reset"))
    arm.silent = True
    with pytest.raises(Lost, match="stood still"):
        world.step(HOME[None])
    assert arm.holds
    assert world.pace.lost == 1


def test_an_emergency_stop_ends_the_episode(world, arm):
    world.reset(stream(0, "reset"))
    arm.stop.ask("a test")
    with pytest.raises(Lost, match="emergency stop"):
        world.step(HOME[None])


def test_an_emergency_stop_is_named_though_the_arm_has_not_been_heard_of(world, arm):
    arm.stop.ask("a test")
    arm._heard = None
    with pytest.raises(Lost, match="emergency stop"):
        world.reset(stream(0, "reset"))


def test_an_old_observation_is_moved_on_to_the_time_it_stands_for(world, arm):
    world.reset(stream(0, "reset"))
    send = arm.send

    def late(positions, after):
        begin = send(positions, after)
        arm._heard = Heard(arm.clock.now() - 0.02, HOME.copy(), np.full(7, 0.5))
        return begin

    arm.send = late
    seen = world.step(HOME[None]).observations
    np.testing.assert_allclose(seen[0, :7], HOME + 0.01, atol=1e-3)


def test_a_move_is_sent_in_pieces_none_of_which_outlives_us_for_long(world, arm):
    arm._heard = Heard(1.0, HOME + 1.0, np.zeros(7))
    world.reset(stream(0, "reset"))
    assert max(after for after, _ in arm.sent) <= 0.35
    commands = np.array([positions for _, positions in arm.sent])
    assert len(commands) > 20
    assert (np.abs(np.diff(commands, axis=0)) <= 0.1 * SPEED_LIMITS).all()
    np.testing.assert_allclose(commands[-1], HOME)


def test_an_arm_outside_the_range_of_commands_is_not_moved(world, arm):
    arm._heard = Heard(1.0, REACH + 0.3, np.zeros(7))
    with pytest.raises(Lost, match=r"_joint is at .* no command is within its range"):
        world.reset(stream(0, "reset"))
    assert not arm.sent


def test_a_joint_that_does_not_follow_is_held(world, arm):
    world.reset(stream(0, "reset"))
    send = arm.send

    def stuck(positions, after):
        begin = send(positions, after)
        arm._heard = Heard(arm.clock.now(), HOME.copy(), np.zeros(7))
        return begin

    arm.send = stuck
    with pytest.raises(Lost, match="shoulder_pan_joint does not follow"):
        go_on(world, 0.1)
    assert arm.held
    assert np.abs(arm.sent[-1][1][0] - HOME[0]) < 0.18  # a joint that does not move is not pulled harder and harder


def test_a_wrong_velocity_does_not_put_a_joint_where_it_cannot_be(world, arm):
    world.reset(stream(0, "reset"))
    send = arm.send

    def hasty(positions, after):
        begin = send(positions, after)
        arm._heard = Heard(arm.clock.now() - 0.05, HOME.copy(), np.full(7, 1e300))
        return begin

    arm.send = hasty
    seen = world.step(HOME[None]).observations
    assert (np.abs(seen[0, :7] - HOME) < 0.2).all()


def test_a_fault_of_the_readings_holds_the_arm_and_is_told(over):
    arm = QuickArm()
    world = over(arm)
    world.reset(stream(0, "reset"))
    arm.fault = "shoulder_pan_joint reads 1e+300"
    with pytest.raises(Lost, match=r"shoulder_pan_joint reads 1e\+300, and the arm was held"):
        go_on(world)


@pytest.mark.parametrize("moving", [True, False])
def test_a_stop_ends_a_move_and_a_swing_and_nothing_is_sent_afterwards(over, moving):
    arm = QuickArm()
    world = over(arm)
    if not moving:
        world.reset(stream(0, "reset"))
    asked = []

    def ask():
        asked.append(time.monotonic())
        arm.stop.ask("a key")

    threading.Timer(0.25, ask).start()
    with pytest.raises(Lost, match=r"emergency stop \(a key\)"):
        go_on(world, moving=moving)
    assert time.monotonic() - asked[0] < 5.0
    sent = len(arm.sent)
    time.sleep(0.1)
    assert arm.holds >= 5
    assert len(arm.sent) == sent


def test_a_frozen_robot_whose_clock_is_ahead_is_noticed(over):
    """Its last reading is from the future: by its stamp alone it would be fresh for ever."""
    arm = FrozenArm()
    world = over(arm)
    world.reset(stream(0, "reset"))
    arm.freeze()
    with pytest.raises(Lost, match="gone silent"):
        go_on(world)
    assert len(arm.sent) - arm.sent_before < 5


class QuickArm(StillArm):
    """An arm in real time that glides on at a steady speed."""

    speed = 0.05

    def __init__(self):
        super().__init__()
        self.clock = WallClock()
        self.looked = []

    def heard(self):
        now = self.clock.now()
        self.looked.append(now)
        return Heard(now, HOME + self.speed * (now % 1.0), np.full(7, self.speed), now)

    def send(self, positions, after):
        self.sent.append((self.clock.now(), positions))
        return self.sent[-1][0]


def test_in_real_time_the_arm_is_looked_at_early_and_a_command_goes_when_it_is_due(over):
    arm = QuickArm()
    world = over(arm)
    seen = [world.reset(stream(0, "reset")), *(world.step(HOME[None]).observations for _ in range(4))]
    world.close()
    sent = np.array([at for at, _ in arm.sent[-4:]])
    due = sent[0] + 0.1 * np.arange(len(sent))
    assert (np.array(world.pace.lateness) >= 0).all()
    assert np.median(np.abs(sent - due)) < 0.02
    ready = [max(at for at in arm.looked if at < command) for command in sent]
    assert np.median(sent - ready) > 0.001
    for observed, at in zip(seen[:-1], sent, strict=True):
        turned = (observed[0, 0] - HOME[0]) / arm.speed
        assert abs((turned - at + 0.5) % 1.0 - 0.5) < 0.02, "what is seen stands for when the command goes"


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="needs Linux's schedulers")
def test_only_while_commands_are_due_we_are_served_before_all_others(over):
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pytest.skip("not allowed to have a real-time priority")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    world = over(QuickArm())
    world.reset(stream(0, "reset"))
    assert os.sched_getscheduler(0) == os.SCHED_FIFO
    patience = time.monotonic() + 10
    while os.sched_getscheduler(0) == os.SCHED_FIFO and time.monotonic() < patience:
        time.sleep(0.05)  # no command comes any more: something else is being done
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    world.reset(stream(0, "reset"))
    world.close()
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


class FrozenArm(QuickArm):
    """An arm that stops telling anything new, with a stamp of 5 s later."""

    def __init__(self):
        super().__init__()
        self.frozen, self.sent_before = None, 0

    def freeze(self):
        self.sent_before, now = len(self.sent), self.clock.now()
        self.frozen = Heard(now + 5.0, HOME.copy(), np.zeros(7), now)

    def heard(self):
        return self.frozen or super().heard()


class Shifted:
    """An estimator that adds to what is sensed, more at every step."""

    def __init__(self):
        self.steps = 0

    def begin(self, sensed, rows):
        self.steps = 0
        return sensed + 1.0

    def __call__(self, sensed, applied, rows):
        self.steps += 1
        return sensed + 1.0 + self.steps


def test_an_estimator_stands_between_the_joints_and_the_observation(over):
    world = over(StillArm(), Shifted())
    np.testing.assert_allclose(world.reset(stream(0)), world.sensed + 1.0)
    first = world.step(HOME[None])
    np.testing.assert_allclose(first.observations, world.sensed + 2.0)
    second = world.step(HOME[None])
    np.testing.assert_allclose(second.observations, world.sensed + 3.0)


def test_an_episode_that_is_over_leaves_the_robot_held(world, arm):
    world._over = lambda observation: observation[14] > 0.15
    world.reset(stream(0, "reset"))
    assert not world.step(HOME[None]).ended[0]
    assert world.step(HOME[None]).ended[0]
    assert arm.held
    sent = len(arm.sent)
    assert world.step(HOME[None]).ended[0]
    assert len(arm.sent) == sent
