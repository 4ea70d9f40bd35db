"""The stand-in robot: what it is made of, without ROS."""

import json
from dataclasses import replace
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.hardware.driver import JointReading
from isthmus.hardware.goal import Goal
from isthmus.hardware.ros1.action import INVALID_GOAL, INVALID_JOINTS
from isthmus.robots.fetch.arm import HOME, JOINTS, REACH
from isthmus.robots.fetch.standin.faults import Faults, FaultSettings
from isthmus.robots.fetch.standin.machine import Hysteresis, Machine, Path, Wire
from isthmus.robots.fetch.standin.node import checked
from isthmus.robots.fetch.standin.parameters import ROBOTS, load_parameters

needs_model = pytest.mark.skipif(find_spec("gymnasium_robotics") is None, reason="needs isthmus[fetch]")


def run(machine, milliseconds):
    for _ in range(milliseconds):
        machine.tick()


@needs_model
@pytest.mark.parametrize("name", ROBOTS)
def test_an_arm_that_is_told_nothing_stays_near_home(name):
    machine = Machine(load_parameters(name))
    run(machine, 1000)
    assert np.abs(machine.data.qpos - HOME).max() < 0.1
    assert np.abs(machine.data.qvel).max() < 0.1


@needs_model
def test_an_arm_goes_where_it_is_sent_and_holds_there():
    machine = Machine(load_parameters("first"))
    goal = HOME + 0.2
    machine.command([(0.5, goal)])
    run(machine, 1500)
    assert np.abs(machine.data.qpos - goal).max() < 0.1
    assert machine.warmth.max() > 0


@needs_model
def test_an_arm_holds_in_mid_motion_when_it_is_told_to():
    machine = Machine(load_parameters("first"))
    machine.command([(1.0, HOME + 0.5)])
    run(machine, 400)
    machine.command(None)
    run(machine, 800)
    assert np.abs(machine.data.qvel).max() < 0.1
    assert np.abs(machine.data.qpos - HOME).max() < 0.4


@needs_model
def test_encoders_see_in_steps():
    machine = Machine(load_parameters("first"))
    machine.command([(0.5, HOME + 0.2)])
    run(machine, 300)
    machine.read()
    run(machine, 20)
    reading = machine.readings()[-1]
    step = load_parameters("first").encoder
    np.testing.assert_allclose(reading.positions / step, np.rint(reading.positions / step), atol=1e-6)


def test_the_two_robots_differ():
    first, second = (
        json.loads((files("isthmus.robots.fetch.standin") / "drawn" / f"{name}.json").read_text()) for name in ROBOTS
    )
    assert first.keys() == second.keys()
    assert first["stiffness"] != second["stiffness"]
    assert first["cord_anchor"] != second["cord_anchor"]


def test_a_robot_that_was_not_drawn_is_refused():
    with pytest.raises(Problem, match="choose from first, second"):
        load_parameters("third")


def test_a_cord_pulls_harder_while_it_is_stretched_and_not_at_all_while_slack():
    cord = Hysteresis(load_parameters("first"))
    rest = load_parameters("first").cord_rest
    assert cord.pull(rest - 0.1) == 0.0
    stretching = [cord.pull(rest + x) for x in np.linspace(0, 0.2, 50)][25]
    relaxing = [cord.pull(rest + x) for x in np.linspace(0.2, 0, 50)][25]
    assert stretching > 0 > relaxing


def test_a_wire_takes_its_time_and_keeps_the_order():
    wire = Wire(0.01, 0.005, np.random.default_rng(0))
    for number in range(50):
        wire.send(number, number * 0.001)
    assert wire.arrived(0.009) == []
    assert wire.arrived(1.0) == list(range(50))


def test_a_path_goes_straight_and_holds_its_end():
    path = Path(np.zeros(1))
    path.follow(1.0, [(0.5, np.ones(1))])
    at, speed = path.at(1.25)
    assert at[0] == pytest.approx(0.5)
    assert speed[0] == pytest.approx(2.0)
    assert path.at(3.0)[0][0] == 1.0


def test_goals_are_taken_by_name_and_within_the_range():
    names = tuple(reversed(JOINTS))
    points, _, why = checked(Goal("g", names, ((0.1, np.arange(7) * 1.0),), 0.0))
    assert not why
    np.testing.assert_array_equal(points[0][1], np.clip(np.arange(7)[::-1], -REACH, REACH))


@pytest.mark.parametrize(
    ("names", "positions", "code"),
    [
        ((*JOINTS[:-1], "wrong_joint"), np.zeros(7), INVALID_JOINTS),
        (JOINTS, np.full(7, np.nan), INVALID_GOAL),
        (JOINTS, np.zeros(6), INVALID_GOAL),
    ],
)
def test_bad_goals_are_rejected(names, positions, code):
    _, found, why = checked(Goal("g", names, ((0.1, positions),), 0.0))
    assert found == code
    assert why


def test_faults_overtake_drop_and_spoil():
    reading = JointReading(0.0, ("a", "b"), np.zeros(2), np.zeros(2))
    assert not list(Faults(FaultSettings(drop=1.0), 0).spoiled(reading))
    assert np.isnan(next(Faults(FaultSettings(nan=1.0), 0).spoiled(reading)).positions).any()
    assert next(Faults(FaultSettings(wrong_name=1.0), 0).spoiled(reading)).names != reading.names
    swapped = Faults(FaultSettings(reorder=1.0), 0)
    later = JointReading(1.0, ("a", "b"), np.zeros(2), np.zeros(2))
    assert [one.stamp for one in (*swapped.spoiled(reading), *swapped.spoiled(later))] == [1.0, 0.0]


def arm_reading(**changes):
    positions = np.arange(13) / 10
    return replace(JointReading(5.0, tuple(f"joint {k}" for k in range(13)), positions, np.zeros(13)), **changes)


@pytest.mark.parametrize(
    ("kind", "joint", "wrong"),
    [
        ("jump", 6, -0.4),
        ("outside", 9, 5.9),
        ("huge", 6, 1e300),
        ("nan", 6, np.nan),
        ("stuck", 8, 0.8),
        ("swapped", 6, 0.9),
        ("repeated", 12, 1.2),
    ],
)
def test_each_kind_of_wrong_reading_can_be_had(kind, joint, wrong):
    faults = Faults(FaultSettings(wrong=kind), 0)
    list(faults.spoiled(arm_reading()))
    later = arm_reading(positions=np.arange(13) / 10 + 0.001)
    told = next(faults.spoiled(later))
    np.testing.assert_allclose(told.positions[joint], wrong, atol=0.0011)


def test_faults_wait_for_their_signal_and_end_with_another():
    faults = Faults(FaultSettings(cut=True, on_signal=True), 0)
    assert list(faults.spoiled(arm_reading()))
    assert not faults.command_lost()
    faults.have(wanted=True)
    assert not list(faults.spoiled(arm_reading()))
    assert faults.command_lost()
    faults.have(wanted=False)
    assert list(faults.spoiled(arm_reading()))


def test_which_commands_get_lost_does_not_depend_on_the_readings_between_them():
    alone, busy = (Faults(FaultSettings(drop=0.5), 3) for _ in range(2))
    lost = [alone.command_lost() for _ in range(20)]
    for expected in lost:
        list(busy.spoiled(arm_reading()))
        assert busy.command_lost() is expected
    assert 0 < sum(lost) < 20


def test_a_clock_can_be_ahead():
    assert next(Faults(FaultSettings(clock=0.9), 0).spoiled(arm_reading())).stamp == 5.9
