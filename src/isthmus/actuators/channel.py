"""An actuator model in a simulation: commands go in, the controls of torque motors come out, once a physics step."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.actuators.actuator import Actuator
from isthmus.actuators.engine import SETTLE, Columns, Engine, make_engine
from isthmus.actuators.parts import Joint
from isthmus.core import Float, Problem, Rows
from isthmus.sim import Fields, RobotModel

OFTEN = 0.01
"""Share of samples outside the data from which on the simulator says so."""


class Outside:
    """Counts how often actuator models were asked outside their data, over all simulations that it watches."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._engines: list[Engine] = []

    def watch(self, engine: Engine) -> None:
        """Count what this engine is asked, too."""
        self._engines.append(engine)

    @property
    def share(self) -> float:
        """Share of all samples so far that lay outside the data."""
        total = sum(int(engine.total.sum()) for engine in self._engines)
        return sum(int(engine.outside.sum()) for engine in self._engines) / max(1, total)


class ActuatorChannel:
    """The drives of n robots: targets (m, act) in, controls (m, act) out that give the model's torques.

    A new episode fills the history with its first sample. Targets are clipped as the robot's driver clips commands.
    """

    def __init__(self, actuator: Actuator, robot: RobotModel, n: int, outside: Outside | None = None) -> None:
        """Set up n robots whose actuators are torque motors (see `as_motors`)."""
        model = robot.model
        fitted = actuator.at(model.opt.timestep)
        order = joint_order(fitted, model)
        joints = model.actuator_trnid[order, 0]
        self._engine = make_engine(
            fitted,
            n,
            Columns(
                fitted.contract.size,
                target=np.array(order),
                position=model.jnt_qposadr[joints],
                velocity=model.jnt_dofadr[joints],
                gain=1 / (model.actuator_gear[order, 0] * model.actuator_gainprm[order, 0]),
            ),
        )
        self._low, self._high, self._worlds = robot.spec.action_low, robot.spec.action_high, np.arange(n)
        self._outside = outside or Outside()
        self._outside.watch(self._engine)
        self._memory = fitted.depth - 1 if fitted.gru is None else SETTLE

    @property
    def memory(self) -> int:
        """How many physics steps of the past the torques depend on."""
        return self._memory

    def begin(self, first: Float, fields: Fields, rng: np.random.Generator, rows: Rows) -> None:  # noqa: ARG002
        """Start a new episode in the worlds `rows`: their next sample fills the history."""
        self._engine.begin(self._worlds[rows])

    def __call__(self, values: Float, fields: Fields, rows: Rows) -> Float:
        """The controls (m, act) that give the torques for targets (m, act)."""
        targets = np.minimum(np.maximum(values, self._low), self._high)
        worlds = None if isinstance(rows, slice) else self._worlds[rows]
        return self._engine.step(targets, fields["qpos"], fields["qvel"], worlds)

    @property
    def outside(self) -> float:
        """Share of all samples so far that lay outside the data that the model was fitted to."""
        return self._outside.share


def joint_order(actuator: Actuator, model: mujoco.MjModel) -> list[int]:
    """The actuator of `model` that drives each joint of the actuator model, found by the joints' names."""
    if not (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT.value).all():
        raise Problem(
            "this robot has actuators that drive something else than a joint: it cannot have an actuator model"
        )
    driven = {model.joint(int(joint)).name: number for number, joint in enumerate(model.actuator_trnid[:, 0])}
    wanted = actuator.contract.joints
    if sorted(driven) != sorted(wanted):
        raise Problem(
            f"the actuator model is for {_some(wanted)} and this robot has {_some(list(driven))}: "
            "the names must be the same"
        )
    return [driven[joint] for joint in wanted]


def _some(names: Sequence[str]) -> str:
    return f"{len(names)} joints ({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"


def as_motors(model: mujoco.MjModel, most: Float) -> mujoco.MjModel:
    """A copy of `model` with torque motors of gear 1 for actuators, limited to `most` (nu,) where that is finite."""
    changed = copy.copy(model)
    changed.actuator_gaintype[:] = mujoco.mjtGain.mjGAIN_FIXED.value
    changed.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_NONE.value
    changed.actuator_dyntype[:] = mujoco.mjtDyn.mjDYN_NONE.value
    changed.actuator_gainprm[:], changed.actuator_biasprm[:] = 0.0, 0.0
    changed.actuator_gainprm[:, 0] = 1.0
    changed.actuator_gear[:] = 0.0
    changed.actuator_gear[:, 0] = 1.0
    changed.actuator_ctrllimited[:] = 0
    limited = np.isfinite(most)
    changed.actuator_forcelimited[:] = limited
    changed.actuator_forcerange[limited] = np.stack((-most[limited], most[limited]), axis=1)
    return changed


def equip(robot: RobotModel, actuator: Actuator, outside: Outside | None = None) -> RobotModel:
    """The robot with an actuator model for drives, in every simulation and prediction that is made of it.

    `outside` counts how often the model is asked outside its data, in all of them together.
    """
    if actuator.contract.command != robot.spec.commands:
        raise Problem(
            f"the actuator model takes {actuator.contract.command} commands and this robot is given "
            f"{robot.spec.commands} commands: fit one to a log of those"
        )
    order = joint_order(actuator, robot.model)
    most = np.empty(len(order))
    most[order] = actuator.contract.effort_limit
    motors = replace(robot, model=as_motors(robot.model, most))
    if actuator.joint is not None:
        set_joints(motors.model, actuator.joint, motors.model.jnt_dofadr[motors.model.actuator_trnid[order, 0]])
    ActuatorChannel(actuator, motors, 1)  # refuse what does not fit before anything runs

    def drive(n: int) -> ActuatorChannel:
        return ActuatorChannel(actuator, motors, n, outside)

    return replace(motors, drive=drive)


def set_joints(model: mujoco.MjModel, joint: Joint, dofs: NDArray[Any]) -> None:
    """Give the degrees of freedom of a model the armature, damping and friction that belong to an actuator model."""
    model.dof_armature[dofs], model.dof_frictionloss[dofs] = joint.armature, joint.frictionloss
    model.dof_damping[dofs] = joint.damping
    mujoco.mj_setConst(model, mujoco.MjData(model))
