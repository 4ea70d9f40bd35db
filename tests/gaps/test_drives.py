"""The torque that a command gives, in a robot whose actuators are weaker, stronger or sooner at their limit."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isthmus.core import Problem
from isthmus.gaps import Gap


def changed(model, text):
    return Gap.parse(text).apply(model)


def torque(model, control, angle=0.0):
    data = mujoco.MjData(model)
    data.ctrl[:], data.qpos[:] = control, angle
    mujoco.mj_forward(model, data)
    return data.qfrc_actuator[0]


class TestTorqueScale:
    @pytest.mark.parametrize("factor", [0.5, 2])
    def test_a_command_gives_that_much_of_the_torque_and_of_its_limit(self, rotor, factor):
        model = changed(rotor, f"torque-scale={factor}")
        for control in (-9.0, -0.7, 0.3, 2.0, 5.0):
            assert torque(model, control) == pytest.approx(factor * torque(rotor, control))

    def test_a_servo_is_as_much_stronger(self, servo):
        model = changed(servo, "torque-scale=1.5")
        for control, angle in ((0.1, 0.0), (0.0, -0.2), (9.0, 0.0)):
            assert torque(model, control, angle) == pytest.approx(1.5 * torque(servo, control, angle))

    def test_it_fits_motors_and_servos_only(self):
        muscle = mujoco.MjModel.from_xml_string(
            "<mujoco><worldbody><body><joint name='j' axis='0 1 0'/><geom size='0.1'/></body></worldbody>"
            "<actuator><muscle joint='j' lengthrange='0 1'/></actuator></mujoco>"
        )
        for name in ("torque-scale", "torque-limit"):
            with pytest.raises(Problem, match=f"gap '{name}' does not fit this robot: its actuators"):
                changed(muscle, f"{name}=0.8")


class TestTorqueLimit:
    @given(st.floats(0.05, 1), st.floats(-5, 5))
    def test_below_it_a_command_does_what_it_did_and_past_it_no_more_than_the_limit(self, rotor, factor, control):
        limit = factor * 4.0
        expected = np.clip(torque(rotor, control), -limit, limit)
        assert torque(changed(rotor, f"torque-limit={factor}"), control) == pytest.approx(expected)

    def test_a_servo_saturates_earlier(self, servo):
        model = changed(servo, "torque-limit=0.5")
        assert torque(model, 0.1) == torque(servo, 0.1)
        assert torque(model, 9.0) == pytest.approx(1.5)

    def test_it_is_a_share_of_what_the_scale_leaves(self, rotor):
        model = changed(rotor, "torque-limit=0.5,torque-scale=0.8")
        assert torque(model, 0.2) == pytest.approx(0.8 * torque(rotor, 0.2))
        assert torque(model, 2.0) == pytest.approx(0.4 * torque(rotor, 2.0))

    def test_the_driver_still_says_that_it_accepted_the_command(self, reacher, rng):
        world = reacher.target(Gap.parse("torque-limit=0.5"))
        world.reset(rng)
        np.testing.assert_array_equal(world.step(np.array([[0.9, -3.0]])).applied, [[0.9, -1.0]])
