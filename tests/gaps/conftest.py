"""Robots small enough to know by heart."""

import mujoco
import pytest


@pytest.fixture(scope="session")
def rotor():
    """A wheel that gravity does not reach, of inertia 1 and damping 0.5, driven by a motor of up to 4 N m."""
    return mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <option timestep="0.001"/>
          <worldbody>
            <body name="wheel">
              <joint name="axle" axis="0 0 1" armature="0.9" damping="0.5"/>
              <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
            </body>
          </worldbody>
          <actuator><motor joint="axle" gear="2" ctrllimited="true" ctrlrange="-2 2"/></actuator>
        </mujoco>
        """
    )


@pytest.fixture(scope="session")
def servo():
    """A wheel without friction or motor inertia, held by a position servo of up to 3 N m."""
    return mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <worldbody>
            <body name="wheel">
              <joint name="axle" axis="0 0 1"/>
              <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
            </body>
          </worldbody>
          <actuator><position joint="axle" kp="10" forcelimited="true" forcerange="-3 3"/></actuator>
        </mujoco>
        """
    )
