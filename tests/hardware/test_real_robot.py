"""What a robot file declares of its real robot, and what keeps commands to it."""

import numpy as np
import pytest

from isthmus.core import Problem, WorldSpec
from isthmus.hardware import Guard, RealRobot, SafetySettings, Unsafe
from isthmus.hardware.envelope import AHEAD, Envelope

PERIOD = 0.02


def spec(commands="effort", **changes):
    names = ("hip", "knee")
    usual = {
        "observation_names": (*names, *(f"{name} velocity" for name in names), "goal"),
        "action_names": names,
        "action_low": np.array([-1.0, -0.5]),
        "action_high": np.array([1.0, 0.25]),
        "control_period": PERIOD,
        "horizon": 10,
        "targets": np.arange(4),
        "sensed": np.arange(4),
        "commands": commands,
    }
    return WorldSpec(**usual | changes)


def test_efforts_keep_to_torque_rate_and_what_actions_ask_for():
    declared = RealRobot(position=(-2.0, 2.0), velocity=5.0, torque=[8.0, 3.0], rate=[100.0, 50.0], scale=[10.0, 4.0])
    wiring = declared.wired(spec())
    limits = wiring.limits(PERIOD, SafetySettings())
    np.testing.assert_allclose(limits.low, [-8.0, -2.0])
    np.testing.assert_allclose(limits.high, [8.0, 1.0])
    np.testing.assert_allclose(limits.step, [2.0, 1.0])
    assert np.isinf(limits.lead).all()
    admitted = Guard(limits).admit(np.array([9.0, -5.0]), np.array([5.0, 0.5]), np.zeros(2))
    np.testing.assert_allclose(admitted, [7.0, -0.5])


def test_positions_keep_to_both_ranges_velocity_and_rate():
    declared = RealRobot(position=([-0.5, -2.0], [0.75, 2.0]), velocity=[4.0, 2.0], rate=[1.0, 100.0], zero=[0.1, -1.0])
    wiring = declared.wired(spec("position"))
    safety = SafetySettings()
    limits = wiring.limits(PERIOD, safety)
    np.testing.assert_allclose(limits.low, [-0.5, -1.5])
    np.testing.assert_allclose(limits.high, [0.75, -0.75])
    np.testing.assert_allclose(limits.step, [1.0 * PERIOD, safety.step * 2.0 * PERIOD])
    np.testing.assert_allclose(limits.lead, safety.lead * PERIOD * np.array([4.0, 2.0]))
    assert wiring.envelope() is None


def test_an_action_is_sent_in_the_robot_s_units_and_recorded_in_its_own():
    wiring = RealRobot(velocity=1.0, scale=[-2.0, 0.5], zero=[0.3, 0.1]).wired(spec("position"))
    action = np.array([0.4, -0.2])
    np.testing.assert_allclose(wiring.sent(action), [-0.5, 0.0])
    np.testing.assert_allclose(wiring.asked(wiring.sent(action)), action)
    np.testing.assert_allclose(wiring.low, [-1.7, -0.15])  # a negative scale turns the range round
    assert wiring.positions == [0, 1]
    assert wiring.velocities == [2, 3]


@pytest.mark.parametrize(
    ("declared", "commands", "message"),
    [
        (RealRobot(velocity=[1.0, 2.0, 3.0]), "position", "velocity is one number, or 2 of them"),
        (RealRobot(velocity=0.0), "position", "velocity must be above zero"),
        (RealRobot(velocity=np.nan), "position", "velocity must be finite"),
        (RealRobot(velocity=1.0), "effort", "must declare its joints' range"),
        (RealRobot(velocity=1.0, position=(1.0, -1.0)), "position", "smaller end first"),
        (RealRobot(velocity=1.0, position=(3.0, 4.0)), "position", "leave no command"),
        (RealRobot(velocity=1.0, scale=0.0), "position", "scale must not be zero"),
        (RealRobot(velocity=1.0, joints=("a", "a")), "position", "2 different names"),
        (RealRobot(velocity=1.0, position=(-1.0, 1.0), torque=-1.0), "effort", "torque must be above zero"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declared, commands, message):
    with pytest.raises(Problem, match=message):
        declared.wired(spec(commands))


def test_what_a_driver_cannot_measure_is_refused():
    with pytest.raises(Problem, match="and not 'goal'"):
        RealRobot(velocity=1.0).wired(spec("position", sensed=None))
    names = ("hip", "knee", "hip speed", "knee speed", "goal")
    with pytest.raises(Problem, match="called 'hip velocity'"):
        RealRobot(velocity=1.0).wired(spec("position", observation_names=names))


LOW, HIGH, SPEEDS = np.array([-1.0, -0.5]), np.array([2.0, 1.5]), np.array([3.0, 4.0])


def admitted(effort, positions, velocities):
    envelope = Envelope(LOW, HIGH, SPEEDS, ("hip", "knee"))
    return envelope.admit(np.array(effort), np.array(positions), np.array(velocities)).tolist()


def test_an_effort_in_the_middle_of_the_range_passes():
    assert admitted([5.0, -7.0], [0.5, 0.25], [1.0, -1.0]) == [5.0, -7.0]


def test_a_joint_that_will_be_out_of_its_range_is_not_pushed_on():
    near = 2.0 - 0.9 * AHEAD * 2.5
    assert admitted([5.0, 5.0], [near, 0.0], [2.5, 0.0]) == [0.0, 5.0]
    assert admitted([-5.0, 5.0], [near, 0.0], [2.5, 0.0]) == [-5.0, 5.0], "but may be pulled back"
    assert admitted([5.0, -5.0], [0.0, -0.45], [0.0, -1.0]) == [5.0, 0.0]


def test_a_joint_that_is_too_fast_is_not_made_faster():
    assert admitted([5.0, -5.0], [0.0, 0.8], [3.3, -4.4]) == [0.0, 0.0]
    assert admitted([-5.0, 5.0], [0.0, 0.8], [3.3, -4.4]) == [-5.0, 5.0]


@pytest.mark.parametrize(
    ("positions", "velocities", "message"),
    [([2.01, 0.0], [0.0, 0.0], "hip is at 2.01, outside"), ([0.0, 0.5], [0.0, -6.1], "knee moves at -6.1")],
)
def test_a_joint_that_is_outside_or_much_too_fast_has_to_be_held(positions, velocities, message):
    with pytest.raises(Unsafe, match=message):
        admitted([0.0, 0.0], positions, velocities)
