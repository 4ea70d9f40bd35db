"""A hanging arm and a pendulum whose recordings are simulated step by step, with whatever their models do not have."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from isthmus.replay.recording import Recording, joined
from isthmus.replay.smooth import smoothed

ARM = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <default>
    <joint type="hinge" axis="0 1 0" damping="0.05" armature="0.003"/>
    <geom type="capsule" size="0.02" contype="0" conaffinity="0"/>
  </default>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder"/>
      <geom fromto="0 0 0 0 0 -0.3" mass="0.5"/>
      <body name="fore" pos="0 0 -0.3">
        <joint name="elbow" damping="0.02"/>
        <geom fromto="0 0 0 0.05 0 -0.25" mass="0.3"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="lift" joint="shoulder" gear="2"/>
    <motor name="bend" joint="elbow" gear="1.5"/>
  </actuator>
</mujoco>
"""
PENDULUM = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="bob" pos="0 0 1">
      <joint name="swing" type="hinge" axis="0 1 0" damping="0.03" armature="0.002"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.03 0 -0.35" mass="0.4" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="swing" gear="1.6"/></actuator>
</mujoco>
"""
DT = 0.02


def model_of(text):
    return mujoco.MjModel.from_xml_string(text)


def recorded(text, change=None, *, late=0, recordings=3, seconds=4.0, seed=0, noise=1e-4, size=0.3):
    """What a robot whose commands act `late` physics steps late was recorded doing."""
    rng, model = np.random.default_rng(seed), model_of(text)
    if change is not None:
        change(model)
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return joined([_one(model, rng, f"run {number}", late, seconds, noise, size) for number in range(recordings)])


def _one(model, rng, name, late, seconds, noise, size):
    data, steps, rows = mujoco.MjData(model), round(DT / model.opt.timestep), round(seconds / DT)
    time = DT * np.arange(rows)[:, None]
    shape = (4, model.nu)
    waves = zip(rng.uniform(0.3, 2.5, shape), rng.uniform(0, 6, shape), rng.uniform(0.3, 1.0, shape), strict=True)
    command = size * sum(share * np.sin(2 * np.pi * hertz * time + phase) for hertz, phase, share in waves)
    sent = np.repeat(command, steps, axis=0)
    data.qpos[:] = rng.uniform(-0.3, 0.3, model.nq)
    position = np.empty((rows, model.nq))
    for step in range(rows * steps):
        if step % steps == 0:
            position[step // steps] = data.qpos + noise * rng.standard_normal(model.nq)
        data.ctrl[:] = sent[max(step - late, 0)]
        mujoco.mj_step(model, data)
    joints = tuple(model.joint(one).name for one in range(model.njnt))
    actuators = tuple(model.actuator(one).name for one in range(model.nu))
    return Recording(DT, joints, actuators, position, smoothed(position, DT)[1], command, names=(name,))


@pytest.fixture(scope="session")
def lab():
    """Models as text, and a way to record what robots like them do."""
    return SimpleNamespace(arm=ARM, pendulum=PENDULUM, dt=DT, model=model_of, record=recorded)


@pytest.fixture(scope="session")
def rubbing_arm():
    """An arm with dry friction that its model does not have, whose commands act 15 ms late."""

    def change(model):
        model.dof_frictionloss[:] = (0.08, 0.05)

    return recorded(ARM, change, late=3)
