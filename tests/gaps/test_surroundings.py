"""Robots that fall, hang and slide, where gravity and friction are not what they were."""

import copy

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


class TestGravity:
    @given(st.floats(0, 3))
    def test_a_robot_in_the_air_falls_by_half_g_t_squared(self, factor):
        world = load_task("hopper").target(Gap((("gravity", factor),)))
        high = np.zeros((1, world.spec.observation_size))
        high[0, 1] = 9.0
        world.place(high)
        for _ in range(25):
            seen = world.step(np.zeros((1, 3))).observations
        time = 25 * world.spec.control_period
        assert 9.0 - seen[0, 1] == pytest.approx(0.5 * factor * G * time**2, abs=1e-9)

    def test_it_does_not_fit_a_robot_that_gravity_does_no_work_on(self, reacher):
        with pytest.raises(Problem, match=r"gap 'gravity' does not fit this robot: it moves across gravity.*tilt it"):
            changed(reacher.robot_model.model, "gravity=1.2")

    @pytest.mark.parametrize("text", ["gravity=0.5,tilt=30", "tilt=30,gravity=0.5"])
    def test_on_a_tilted_plane_it_does(self, reacher, text):
        gravity = changed(reacher.robot_model.model, text).opt.gravity
        np.testing.assert_allclose(gravity, 0.5 * G * np.array([0, -0.5, -np.sqrt(0.75)]))


class TestTilt:
    @given(st.floats(0, 90))
    def test_it_turns_gravity_and_does_not_change_its_magnitude(self, reacher, degrees):
        gravity = changed(reacher.robot_model.model, f"tilt={degrees}").opt.gravity
        assert np.linalg.norm(gravity) == pytest.approx(G, rel=1e-12)
        assert gravity[0] == 0
        assert np.degrees(np.arctan2(-gravity[1], -gravity[2])) == pytest.approx(degrees, abs=1e-9)

    @given(st.floats(0, 90), ANGLES, ANGLES)
    def test_an_arm_at_rest_feels_its_weight_in_the_joints(self, reacher, degrees, shoulder, elbow):
        """It is m g sin(tilt) times the lever, about each joint: levers from the geometry, masses from the model."""
        model = changed(reacher.robot_model.model, f"tilt={degrees}")
        data = at_rest(model, (shoulder, elbow))
        upper, lower, tip = (model.body(name).mass[0] for name in ("body0", "body1", "fingertip"))
        reach = np.cos(shoulder), np.cos(shoulder + elbow)  # along x: gravity pulls toward -y
        about_elbow = (0.05 * lower + 0.11 * tip) * reach[1]
        about_shoulder = 0.05 * upper * reach[0] + 0.1 * (lower + tip) * reach[0] + about_elbow
        pull = G * np.sin(np.radians(degrees))
        np.testing.assert_allclose(
            data.qfrc_bias[:2], [pull * about_shoulder, pull * about_elbow], rtol=1e-9, atol=1e-9
        )
        moved = np.linalg.solve(inertia(model, data)[:2, :2], -data.qfrc_bias[:2])
        if abs(elbow) < 2.9:  # clear of the joint's limit
            np.testing.assert_allclose(data.qacc[:2], moved, rtol=1e-6, atol=1e-6)

    def test_a_flat_arm_feels_nothing(self, reacher):
        np.testing.assert_allclose(at_rest(reacher.robot_model.model, (0.3, -1.0)).qfrc_bias, 0, atol=1e-12)

    def test_an_arm_that_falls_without_friction_keeps_its_energy(self, reacher):
        model = changed(reacher.robot_model.model, "tilt=90,damping=0")
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        first = data.energy.sum()
        kinetic = []
        for _ in range(100):
            mujoco.mj_step(model, data)
            kinetic.append(data.energy[1])
            assert data.energy.sum() == pytest.approx(first, abs=1e-5 * max(kinetic[-1], 1.0))
        assert max(kinetic) > 1.0  # it did fall

    @pytest.mark.parametrize("degrees", [30, 90])
    def test_the_mark_to_be_reached_does_not_slide_down_the_plane(self, reacher, degrees):
        target = reacher.target(Gap.parse(f"tilt={degrees}"), 3)
        first = target.reset(np.random.default_rng(0))
        for _ in range(target.spec.horizon):
            seen = target.step(np.zeros((3, 2))).observations
        np.testing.assert_allclose(seen[:, 4:6], first[:, 4:6], rtol=0, atol=1e-9)
        assert (np.abs(seen[:, 0:2] - first[:, 0:2]) > 0.01).any(axis=1).all()  # the arm does

    OUT_OF_PLANE = (
        '<joint type="hinge" axis="0 1 0"/>',
        '<joint type="hinge" axis="0 0.1 1"/>',
        '<joint type="slide" axis="0 0 1"/>',
        "<freejoint/>",
        '<joint type="ball"/>',
        '<joint type="hinge" axis="0 0 1"/><joint type="hinge" axis="1 0 0"/>',
    )
    IN_PLANE = (
        '<joint type="hinge" axis="0 0 1"/>',
        '<joint type="hinge" axis="0 0 -1"/>',
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>',
    )

    @staticmethod
    def model_with(joints, gravity=-G):
        return mujoco.MjModel.from_xml_string(
            f'<mujoco><option gravity="0 0 {gravity}"/><worldbody><body>{joints}<geom size="0.1"/></body>'
            "</worldbody></mujoco>"
        )

    @pytest.mark.parametrize("joints", OUT_OF_PLANE)
    def test_a_robot_that_leaves_the_plane_cannot_be_tilted(self, joints):
        model = self.model_with(joints)
        before = copy.copy(model.opt.gravity)
        with pytest.raises(Problem, match="gap 'tilt' does not fit this robot: it moves out of the horizontal plane"):
            changed(model, "tilt=30")
        np.testing.assert_array_equal(model.opt.gravity, before)

    @pytest.mark.parametrize("joints", IN_PLANE)
    def test_a_robot_that_stays_in_the_plane_can_be_tilted(self, joints):
        assert changed(self.model_with(joints), "tilt=90").opt.gravity[1] == pytest.approx(-G)

    def test_without_gravity_there_is_nothing_to_tilt(self):
        with pytest.raises(Problem, match="there is no gravity to turn"):
            changed(self.model_with(self.IN_PLANE[0], gravity=0), "tilt=30")


class TestContactFriction:
    SLED = """
        <mujoco>
          <option timestep="0.001" cone="elliptic" impratio="20"/>
          <worldbody>
            <geom type="plane" size="50 50 1" friction="{mu}" condim="{dim}"/>
            <body pos="0 0 0.1">
              <joint type="slide" axis="1 0 0"/>
              <joint type="slide" axis="0 0 1"/>
              <geom type="box" size="0.3 0.3 0.1" friction="{mu}" condim="{dim}"/>
            </body>
          </worldbody>
        </mujoco>
        """

    @pytest.mark.parametrize("factor", [0.3, 1, 1.5])
    def test_a_sled_slows_down_by_mu_g(self, factor):
        model = changed(mujoco.MjModel.from_xml_string(self.SLED.format(mu=0.4, dim=3)), f"contact-friction={factor}")
        data = mujoco.MjData(model)
        for _ in range(200):
            mujoco.mj_step(model, data)
        data.qvel[0] = 5.0
        for _ in range(400):
            mujoco.mj_step(model, data)
        assert 5.0 - data.qvel[0] == pytest.approx(0.4 * factor * G * 0.4, rel=0.02)

    def test_it_does_not_fit_what_touches_nothing_or_slides_freely(self, reacher):
        for model in (reacher.robot_model.model, mujoco.MjModel.from_xml_string(self.SLED.format(mu=0.4, dim=1))):
            with pytest.raises(Problem, match="gap 'contact-friction' does not fit this robot: nothing it touches"):
                changed(model, "contact-friction=0.5")
