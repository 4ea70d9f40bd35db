"""A robot's model as an observation spec names it: joints, actuators, base, poses."""

import mujoco
import numpy as np

from isthmus.core import Float, stream
from isthmus.policies.observation import Body
from isthmus.sim import RobotModel
from isthmus.sim.anatomy import in_robot

DRAWN = 256
"""Initial states whose mean is the pose `start`."""
SCALAR = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)


def policy_body(robot_model: RobotModel) -> Body:
    """What the terms of an observation spec are computed from."""
    model, robot = robot_model.model, in_robot(robot_model.model)
    joints = {
        model.joint(j).name: (int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]))
        for j in range(model.njnt)
        if model.jnt_type[j] in SCALAR and robot[model.jnt_bodyid[j]] and model.joint(j).name
    }
    free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE.value]
    based = [j for j in free if robot[model.jnt_bodyid[j]]]
    return Body(
        spec=robot_model.spec,
        state=lambda observations: _state(robot_model, observations),
        joints=joints,
        actuators=_actuators(robot_model),
        base=(int(model.jnt_qposadr[based[0]]), int(model.jnt_dofadr[based[0]])) if based else None,
        poses={
            "reference": model.qpos0.copy(),
            "start": robot_model.start(stream(0, "observation spec", "pose"), DRAWN)[0].mean(axis=0),
            **{model.key(k).name: model.key_qpos[k].copy() for k in range(model.nkey) if model.key(k).name},
        },
    )


def _state(robot_model: RobotModel, observations: Float) -> tuple[Float, Float]:
    n, model = len(observations), robot_model.model
    qpos, qvel = np.zeros((n, model.nq)), np.zeros((n, model.nv))
    robot_model.restore(observations, qpos, qvel)
    return qpos, qvel


def _actuators(robot_model: RobotModel) -> dict[str, int]:
    model, found = robot_model.model, dict[str, int]()
    for action, name in enumerate(robot_model.spec.action_names):
        found.setdefault(name, action)
        if model.nu == robot_model.spec.action_size:
            found.setdefault(model.actuator(action).name, action)
            if model.actuator_trntype[action] == mujoco.mjtTrn.mjTRN_JOINT.value:
                found[model.joint(int(model.actuator_trnid[action, 0])).name] = action
    return {name: action for name, action in found.items() if name}
