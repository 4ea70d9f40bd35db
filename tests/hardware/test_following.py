import numpy as np

from isthmus.hardware import Following

STEPS = np.array([0.1, 0.2])


def run(commands, positions):
    following = Following(STEPS, ("shoulder", "elbow"))
    return [following.fault(np.array(command), np.array(at)) for command, at in zip(commands, positions, strict=True)]


def test_joints_that_follow_late_are_fine():
    commands = [[0.1 * k, 0.2 * k] for k in range(10)]
    positions = [[0.1 * max(k - 1, 0), 0.2 * max(k - 1, 0)] for k in range(10)]
    assert not any(run(commands, positions))


def test_a_joint_that_stays_while_its_command_goes_is_named():
    commands = [[0.1 * k, 0.2 * k] for k in range(5)]
    positions = [[0.1 * k, 0.5] for k in range(5)]
    told = run(commands, positions)
    assert told[2] == ""
    assert told[3].startswith("elbow does not follow: it reads 0.5 as before")


def test_a_joint_that_takes_a_little_to_begin_is_not_held():
    commands = [[0.1 * k, 0.0] for k in range(6)]
    positions = [[0.0, 0.0]] * 3 + [[0.05 * k, 0.0] for k in range(1, 4)]
    assert not any(run(commands, positions))


def test_joints_that_are_to_stay_may_stay():
    assert not any(run([[0.3, 0.3]] * 20, [[0.25, 0.31]] * 20))


def test_a_sensor_that_sticks_where_a_swing_turns_round_is_noticed():
    away = [0.0, 0.02, 0.03, 0.02, 0.0, -0.02, -0.03]  # never half a step from where it was, and more than that in all
    told = run([[one, 0.0] for one in away], [[0.5, 0.0]] * len(away))
    assert not any(told[:5])
    assert told[-1].startswith("shoulder does not follow")
