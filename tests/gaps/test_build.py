"""Heavier robots and stiffer joints: static torques, energies, speeds at which a drive gives up."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.gaps import Gap
from isthmus.robots import load_task

G = 9.81
ANGLES = st.floats(-3, 3)
FACTORS = st.floats(0.2, 3)


def changed(model, text):
    return Gap.parse(text).apply(model)


def at_rest(model, qpos=()):
    """The robot in that pose, without motion."""
    data = mujoco.MjData(model)
    data.qpos[: len(qpos)] = qpos
    mujoco.mj_forward(model, data)
    return data


def inertia(model, data):
    whole = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, whole)
    return whole


def turned(model, seconds, *, control=0.0, speed=0.0):
    """Speed and angle of a wheel after some time under a constant control."""
    data = mujoco.MjData(model)
    data.qvel[:], data.ctrl[:] = speed, control
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data.qvel[0], data.qpos[0]


class TestMass:
    POSE = (0.4, -1.1)

    @given(FACTORS)
    def test_the_whole_arm_weighs_and_resists_as_much_more(self, reacher, factor):
        plain, heavy = (changed(reacher.robot_model.model, f"tilt=90,mass={f}") for f in (1, factor))
        first, second = at_rest(plain, self.POSE), at_rest(heavy, self.POSE)
        np.testing.assert_allclose(second.qfrc_bias[:2], factor * first.qfrc_bias[:2], rtol=1e-9)
        armature = np.diag(plain.dof_armature)
        np.testing.assert_allclose(
            (inertia(heavy, second) - armature)[:2, :2], factor * (inertia(plain, first) - armature)[:2, :2], rtol=1e-9
        )

    @given(FACTORS)
    def test_of_one_body_only_that_body_weighs_more(self, reacher, factor):
        plain, heavy = (changed(reacher.robot_model.model, f"tilt=90,mass:body1={f}") for f in (1, factor))
        lower = plain.body("body1").mass[0]
        lever = np.array([0.1 * np.cos(0.4) + 0.05 * np.cos(-0.7), 0.05 * np.cos(-0.7)])  # of the forearm's centre
        added = at_rest(heavy, self.POSE).qfrc_bias[:2] - at_rest(plain, self.POSE).qfrc_bias[:2]
        np.testing.assert_allclose(added, (factor - 1) * lower * G * lever, atol=1e-9)

    def test_constants_that_depend_on_it_follow(self, reacher):
        plain, heavy = reacher.robot_model.model, changed(reacher.robot_model.model, "mass=2")
        robot = plain.body("body0").subtreemass[0]
        assert heavy.body("body0").subtreemass[0] == pytest.approx(2 * robot)
        assert (heavy.dof_invweight0[:2] < plain.dof_invweight0[:2]).all()
        assert heavy.body("target").mass[0] == plain.body("target").mass[0]  # it is no part of the robot


class TestPayload:
    @given(st.floats(0, 100), ANGLES, st.floats(-2.5, 2.5))
    def test_it_loads_the_joints_by_m_g_r(self, reacher, kilograms, shoulder, elbow):
        plain, loaded = (changed(reacher.robot_model.model, f"tilt=90,payload:fingertip={m}") for m in (0, kilograms))
        pose = (shoulder, elbow)
        added = at_rest(loaded, pose).qfrc_bias[:2] - at_rest(plain, pose).qfrc_bias[:2]
        about_elbow = 0.11 * np.cos(shoulder + elbow)
        lever = np.array([0.1 * np.cos(shoulder) + about_elbow, about_elbow])
        np.testing.assert_allclose(added, kilograms * G * lever, rtol=1e-6, atol=1e-9)

    def test_it_resists_by_m_r_squared(self, reacher):
        plain, loaded = reacher.robot_model.model, changed(reacher.robot_model.model, "payload:fingertip=5")
        added = inertia(loaded, at_rest(loaded)) - inertia(plain, at_rest(plain))
        assert added[0, 0] == pytest.approx(5 * 0.21**2)
        assert added[1, 1] == pytest.approx(5 * 0.11**2)


class TestJointFriction:
    def test_a_wheel_loses_the_energy_that_friction_takes_along_its_way(self, rotor):
        model = changed(rotor, "joint-friction=0.8,damping=0")
        speed, angle = turned(model, 2.0, speed=3.0)
        assert 0.5 * (3.0**2 - speed**2) == pytest.approx(0.8 * angle, rel=0.01)
        assert speed == pytest.approx(3.0 - 0.8 * 2.0, rel=0.01)

    def test_it_stops_and_stays(self, rotor):
        speed, angle = turned(changed(rotor, "joint-friction=0.8,damping=0"), 20.0, speed=3.0)
        assert speed == pytest.approx(0, abs=1e-3)
        assert angle == pytest.approx(3.0**2 / (2 * 0.8), rel=0.02)

    def test_a_torque_below_it_moves_next_to_nothing(self, rotor):
        assert (
            turned(changed(rotor, "joint-friction=0.8"), 1.0, control=0.3)[1]
            < 0.02 * turned(rotor, 1.0, control=0.3)[1]
        )

    def test_only_actuated_joints_have_it(self):
        model = changed(load_task("hopper").robot_model.model, "joint-friction=2")
        np.testing.assert_array_equal(model.dof_frictionloss, [0, 0, 0, 2, 2, 2])


class TestDamping:
    @pytest.mark.parametrize("factor", [0.5, 1, 3])
    def test_a_driven_wheel_reaches_the_speed_at_which_it_takes_up_the_torque(self, rotor, factor):
        speed, _ = turned(changed(rotor, f"damping={factor}"), 40.0, control=0.5)
        assert speed == pytest.approx(2 * 0.5 / (0.5 * factor), rel=1e-3)

    def test_it_does_not_fit_joints_without_any(self, servo):
        with pytest.raises(Problem, match="gap 'damping' does not fit this robot: its joints have no damping"):
            changed(servo, "damping=2")


class TestArmature:
    @pytest.mark.parametrize("factor", [0.2, 1, 4])
    def test_a_wheel_is_as_slow_to_start_as_it_and_its_motor_are_heavy(self, rotor, factor):
        speed, _ = turned(changed(rotor, f"armature={factor},damping=0"), 0.5, control=0.5)
        assert speed == pytest.approx(0.5 * 2 * 0.5 / (0.1 + 0.9 * factor), rel=1e-6)

    def test_it_does_not_fit_joints_without_any(self, servo):
        with pytest.raises(Problem, match="gap 'armature' does not fit this robot: its joints have no armature"):
            changed(servo, "armature=2")
