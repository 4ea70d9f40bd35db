"""Torques of many moments at once against those of MuJoCo."""

import mujoco
import numpy as np
import pytest

from isthmus.logs.inverse_dynamics import InverseDynamics
from isthmus.logs.robot_body import QUIET, body_of

ODD = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="1 -2 -9"/>
  <default><geom type="capsule" size="0.03"/></default>
  <worldbody>
    <body pos="0.3 0.2 1" euler="0.3 -0.4 0.5">
      <freejoint/><geom type="box" size="0.1 0.2 0.3"/>
      <body pos="0.4 0 0.1" euler="0.1 0.2 0.3">
        <joint name="yaw" axis="0 0.6 0.8" pos="0.02 0.03 0.01" damping="0.3" armature="0.02"/>
        <joint name="held" axis="1 0 0"/>
        <joint name="roll" axis="1 1 0" ref="0.3" stiffness="4" springref="0.2"/>
        <geom fromto="0 0 0 0.4 0.1 0" mass="2"/>
        <body pos="0.4 0.1 0" gravcomp="0.6" euler="0 0 1">
          <joint name="rail" type="slide" axis="0.2 0 1" damping="1"/><geom fromto="0 0 0 0.3 0 0.1" mass="1"/>
          <body pos="0.1 0 0.2"><geom type="box" size="0.02 0.1 0.04" pos="0.1 0 0" mass="0.5"/></body>
          <body pos="0.3 0 0.1"><joint name="wrist" axis="0 1 0"/><geom fromto="0 0 0 0.1 0.05 0.02" mass="0.6"/></body>
        </body>
      </body>
      <body pos="-0.4 0 0.1"><joint name="other" axis="0 1 0"/><geom fromto="0 0 0 0 0 0.2" mass="0.7"/></body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""


def by_mujoco(body, position, velocity, acceleration):
    model = body.model
    model.opt.disableflags |= QUIET
    data = mujoco.MjData(model)
    found = np.empty_like(position)
    places, dofs = model.jnt_qposadr[body.ids], model.jnt_dofadr[body.ids]
    for row in range(len(position)):
        data.qpos[:], data.qvel[:], data.qacc[:] = model.qpos0, 0, 0
        data.qpos[places], data.qvel[dofs], data.qacc[dofs] = position[row], velocity[row], acceleration[row]
        mujoco.mj_inverse(model, data)
        found[row] = data.qfrc_inverse[dofs]
    return found


@pytest.mark.parametrize("more", ["", '<option density="1000"/>'])
@pytest.mark.parametrize("joints", [["yaw", "roll", "rail", "wrist", "other"], ["wrist", "rail", "yaw"], ["wrist"]])
def test_torques_are_those_of_mujoco_for_hinges_slides_springs_and_counterweights(joints, more):
    whole = body_of(mujoco.MjModel.from_xml_string(ODD.format(more=more)))
    body = whole.only(np.array([whole.joints.index(name) for name in joints], np.intp))
    motion = np.random.default_rng(0).normal(size=(3, 20, len(joints)))
    expected = by_mujoco(body, *motion)
    np.testing.assert_allclose(InverseDynamics(body).torques(*motion), expected, rtol=1e-9, atol=1e-9)


def test_links_can_be_heavier_from_moment_to_moment():
    body = body_of(mujoco.MjModel.from_xml_string(ODD.format(more="")))
    motion = np.random.default_rng(0).normal(size=(3, 20, len(body.joints)))
    wrist = body.joints.index("wrist")
    heavier = np.ones_like(motion[0])
    heavier[10:, wrist] = 3
    found = InverseDynamics(body).torques(*motion, heavier)
    np.testing.assert_allclose(found[:10], by_mujoco(body, *motion[:, :10]), rtol=1e-9, atol=1e-9)
    carried = body.model.jnt_bodyid[body.ids[wrist]]
    body.model.body_mass[carried] *= 3
    body.model.body_inertia[carried] *= 3
    np.testing.assert_allclose(found[10:], by_mujoco(body, *motion[:, 10:]), rtol=1e-9, atol=1e-9)
