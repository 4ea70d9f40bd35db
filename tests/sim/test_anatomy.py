import mujoco
import numpy as np
import pytest

from isthmus.robots import load_task
from isthmus.sim.anatomy import actuated_dofs, robot_bodies


@pytest.mark.parametrize(
    ("task", "dofs", "bodies"),
    [
        ("reacher", [0, 1], ["body0", "body1", "fingertip"]),
        ("hopper", [3, 4, 5], ["torso", "thigh", "leg", "foot"]),
        ("half-cheetah", [3, 4, 5, 6, 7, 8], ["torso", "bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"]),
    ],
)
def test_the_robot_is_what_its_actuators_can_move(task, dofs, bodies):
    model = load_task(task).robot_model.model
    np.testing.assert_array_equal(actuated_dofs(model), dofs)
    assert robot_bodies(model) == bodies


def test_a_tendon_moves_every_joint_it_spans():
    model = mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <worldbody>
            <body name="a"><joint name="a" axis="0 1 0"/><geom size="0.1"/></body>
            <body name="b"><joint name="b" axis="0 1 0"/><geom size="0.1"/></body>
            <body name="c"><joint name="c" axis="0 1 0"/><geom size="0.1"/></body>
          </worldbody>
          <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="c" coef="2"/></fixed></tendon>
          <actuator><motor tendon="t"/></actuator>
        </mujoco>
        """
    )
    np.testing.assert_array_equal(actuated_dofs(model), [0, 2])
    assert robot_bodies(model) == ["a", "c"]


def test_without_an_actuator_there_is_no_robot():
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><geom size='0.1'/></body></worldbody></mujoco>")
    assert actuated_dofs(model).size == 0
    assert robot_bodies(model) == []
