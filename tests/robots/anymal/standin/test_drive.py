"""The series-elastic drive: what it does at rest, at its limits, late, and whether it makes energy."""

from dataclasses import fields, replace

import numpy as np
import pytest

from isthmus.robots.anymal.standin.drive import STEP, SeriesElasticDrives
from isthmus.robots.anymal.standin.parameters import ROBOTS, Drive, load_parameters

PERIOD = 0.0025


def drive(**changes):
    """A drive of one joint without friction, play or noise."""
    numbers = {
        **{"stiffness": 60.0, "damping": 1.5, "effort": 40.0, "torque_gain": 4.0, "motor_damping": 7.5},
        **{"current_rate": 700.0, "peak": 60.0, "stall": 75.0, "no_load": 13.0, "inertia": 0.09},
        **{"coulomb": 0.0, "stribeck": 0.0, "stribeck_speed": 0.1, "viscous": 0.0},
        **{"spring": 300.0, "spring_damping": 1.0, "play": 0.0},
    } | changes
    return Drive(**{one.name: np.array([numbers[one.name]]) for one in fields(Drive)})


class Joint:
    """A joint of some inertia that a drive turns, or that is held."""

    def __init__(self, made, delay=0.0, angle=0.2, inertia=None):
        self.fields = {"qpos": np.full((1, 1), angle), "qvel": np.zeros((1, 1))}
        self.inertia = inertia
        self.drives = SeriesElasticDrives(1, made, delay, PERIOD, joints=(0, 0))
        self.drives.begin(np.zeros((1, 1)), self.fields, np.random.default_rng(0), slice(None))

    def run(self, target, seconds, speed=None):
        torques = []
        for _ in range(round(seconds / PERIOD)):
            torque = self.drives(np.full((1, 1), target), self.fields, slice(None))
            torques.append(torque[0, 0])
            if self.inertia is not None:
                self.fields["qvel"] += PERIOD * torque / self.inertia
            elif speed is not None:
                self.fields["qvel"][:] = speed
            self.fields["qpos"] += PERIOD * self.fields["qvel"]
        return np.array(torques)


def test_a_held_joint_gets_the_torque_of_the_impedance_law_in_the_end():
    np.testing.assert_allclose(Joint(drive()).run(0.5, 1.0)[-1], 60 * 0.3, rtol=1e-3)


def test_friction_holds_the_torque_back_while_the_motor_winds_the_spring():
    free, rubbing = (Joint(drive(coulomb=coulomb)).run(0.5, 0.02) for coulomb in (0.0, 6.0))
    assert (rubbing[1:] < free[1:]).all()
    assert 0.5 < (free - rubbing).max() < 6.0


def test_nothing_asks_for_more_than_the_effort_limit_or_gets_more_than_the_motor_has():
    np.testing.assert_allclose(Joint(drive()).run(5.0, 1.0)[-1], 40.0, rtol=1e-3)
    np.testing.assert_allclose(Joint(drive(peak=25.0)).run(5.0, 1.0)[-1], 25.0, rtol=5e-3)


def test_a_fast_joint_gets_less_torque_by_the_line_of_torque_against_speed():
    joint = Joint(drive(stiffness=4000.0, damping=0.0))
    joint.run(2.0, 0.5)
    torque = joint.run(50.0, 0.4, speed=8.0)[-40:].mean()
    np.testing.assert_allclose(torque, 75 * (1 - 8 / 13), rtol=0.05)


def test_a_target_takes_as_long_as_the_delay():
    late = Joint(drive(), delay=0.01).run(0.5, 0.05)
    prompt = Joint(drive(), delay=0.0).run(0.5, 0.05)
    np.testing.assert_allclose(late[:4], 0.0, atol=1e-12)
    np.testing.assert_allclose(late[4:], prompt[:-4], atol=1e-9)


def test_in_its_play_a_drive_gives_no_torque():
    joint = Joint(drive(play=0.01, torque_gain=0.0, motor_damping=0.0, stiffness=0.1, damping=0.0))
    torques = joint.run(0.3, 0.02)
    assert (torques == 0).all()
    assert (Joint(drive(play=0.01)).run(0.5, 0.3)[-1]) > 10


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_drives_that_were_drawn_come_to_rest_and_make_no_energy(robot):
    parameters = load_parameters(robot)
    made = Drive(**{one.name: getattr(parameters.drive, one.name)[:1] for one in fields(Drive)})
    joint = Joint(made, parameters.delay, angle=0.6, inertia=0.12)
    energies = []
    for _ in range(20):
        joint.run(0.0, 0.1)
        angle, speed = joint.fields["qpos"][0, 0], joint.fields["qvel"][0, 0]
        energies.append(0.5 * made.stiffness[0] * angle**2 + 0.06 * speed**2)
    assert max(energies) <= 0.5 * made.stiffness[0] * 0.6**2
    assert energies[-1] < 0.02 * energies[0] + 0.1


def test_the_steps_of_the_drive_are_short_enough():
    """Half the step changes torques by little against their size."""
    import isthmus.robots.anymal.standin.drive as module

    coarse = Joint(drive(coulomb=2.0, play=0.003), inertia=0.12).run(0.6, 0.4)
    before = module.STEP
    try:
        module.STEP = before / 2
        fine = Joint(drive(coulomb=2.0, play=0.003), inertia=0.12).run(0.6, 0.4)
    finally:
        module.STEP = before
    assert np.sqrt(np.mean((coarse - fine) ** 2)) < 0.1 * np.std(fine)


def test_robots_that_are_stepped_apart_do_what_they_do_together():
    made = replace(drive(), coulomb=np.array([2.0]))
    state = {"qpos": np.array([[0.1], [0.3], [-0.2]]), "qvel": np.array([[0.4], [-1.0], [0.0]])}
    targets = np.array([[0.5], [0.2], [-0.6]])
    together, apart = (SeriesElasticDrives(3, made, 0.004, PERIOD, joints=(0, 0)) for _ in range(2))
    for one in (together, apart):
        one.begin(targets, state, np.random.default_rng(0), slice(None))
    for _ in range(7):
        whole = together(targets, state, slice(None))
        parts = np.zeros_like(whole)
        for rows in (np.array([True, False, True]), np.array([False, True, False])):
            parts[rows] = apart(targets[rows], state, rows)
        np.testing.assert_array_equal(parts, whole)
    np.testing.assert_array_equal(apart.torque, together.torque)
    assert round(PERIOD / STEP) == 5
