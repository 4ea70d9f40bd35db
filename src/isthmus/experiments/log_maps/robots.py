"""Robots whose logs are disguised: an arm, a bigger arm, a quadruped and walkers, all on a stand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from isthmus.core import Problem
from isthmus.logs.robot_body import RobotBody, body_of
from isthmus.robots import load_task

SMALL_ARM = """
<mujoco model="small arm">
  <compiler angle="radian"/>
  <default>
    <joint damping="0.05" armature="0.01"/>
    <geom type="capsule" size="0.02"/>
  </default>
  <worldbody>
    <body pos="0 0 0.1">
      <joint name="shoulder_pan" axis="0 0 1" range="-2 2"/>
      <geom type="box" size="0.03 0.02 0.03" mass="0.12"/>
      <body pos="0 0 0.04">
        <joint name="shoulder_lift" axis="0 1 0" range="-1.8 1.8"/>
        <geom fromto="0 0 0 0.02 0 0.11" mass="0.16"/>
        <body pos="0.02 0 0.11">
          <joint name="elbow_flex" axis="0 1 0" range="-1.7 1.7"/>
          <geom fromto="0 0 0 0.13 0 0" mass="0.15"/>
          <body pos="0.13 0 0">
            <joint name="wrist_flex" axis="0 1 0" range="-1.7 1.7"/>
            <geom fromto="0 0 0 0.05 0 0" mass="0.1"/>
            <body pos="0.05 0 0">
              <joint name="wrist_roll" axis="1 0 0" range="-2.8 2.8"/>
              <geom type="box" pos="0.03 0.01 0" size="0.03 0.02 0.01" mass="0.08"/>
              <body pos="0.02 0.02 0">
                <joint name="gripper" axis="0 0 1" range="-0.2 1.75"/>
                <geom type="box" pos="0.03 0.005 0" size="0.03 0.005 0.01" mass="0.02"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="shoulder_pan" kp="20"/>
    <position joint="shoulder_lift" kp="20"/>
    <position joint="elbow_flex" kp="20"/>
    <position joint="wrist_flex" kp="20"/>
    <position joint="wrist_roll" kp="20"/>
    <position joint="gripper" kp="20"/>
  </actuator>
</mujoco>
"""
"""With the joints and the size of an SO-101."""


@dataclass(frozen=True)
class Kind:
    """A robot, and how its logs are made."""

    robot: str
    body: Callable[[], RobotBody]
    command: Literal["position", "effort"]
    names: bool
    """Whether columns are named after joints: legs that are alike cannot be told apart by motion."""


def _small_arm() -> RobotBody:
    return body_of(mujoco.MjModel.from_xml_string(SMALL_ARM))


def _task(name: str) -> Callable[[], RobotBody]:
    def make() -> RobotBody:
        body = body_of(load_task(name).robot_model.model)
        return body.only(np.flatnonzero(~body.passive))

    return make


def _go2() -> RobotBody:
    from isthmus.actuators.plant import load_plant, usual_joints  # noqa: PLC0415 - its model is an extra

    return body_of(load_plant("go2", usual_joints("go2", 12), {}).model)


KINDS = (
    Kind("small arm", _small_arm, "position", names=False),
    Kind("go2", _go2, "position", names=True),
    Kind("hopper", _task("hopper"), "effort", names=False),
    Kind("fetch arm", _task("fetch-swing"), "effort", names=True),
    Kind("small arm", _small_arm, "effort", names=False),
    Kind("walker2d", _task("walker2d"), "effort", names=True),
    Kind("hopper", _task("hopper"), "position", names=False),
    Kind("go2", _go2, "effort", names=True),
    Kind("half-cheetah", _task("half-cheetah"), "position", names=True),
    Kind("fetch arm", _task("fetch-swing"), "position", names=True),
)


def kind_of_case(number: int) -> Kind:
    """The robot of a case: each in turn."""
    if number < 0:
        raise Problem("cases are counted from 0")
    return KINDS[number % len(KINDS)]
