"""Recordings as episodes of a task: what adaptation learns from."""

from collections.abc import Callable

import mujoco
import numpy as np

from isthmus.core import Episode, Float, History, Problem, Trajectory
from isthmus.replay.recording import Recording
from isthmus.replay.rig import make_rig
from isthmus.sim import RobotModel

FEWEST = 5
"""Control steps of a segment that is worth an episode."""
UNEVEN = 0.05
"""Share of a control step by which it may miss a whole number of samples."""


def episodes_of(
    recording: Recording, robot_model: RobotModel, policy: Callable[[History], Float] | None = None
) -> list[Episode]:
    """Every segment at the task's control period: observations as the task makes them of positions and velocities.

    Commands are averaged over a control step. `policy` says what the source would have done, where it has no memory.
    """
    spec, model = robot_model.spec, robot_model.model
    step = spec.control_period / recording.dt
    every = round(step)
    if every < 1 or abs(step - every) > UNEVEN:
        raise Problem(
            f"the task has a control step of {spec.control_period:g} s, which is no whole number of samples of the log "
            f"({recording.dt:g} s): set the map's rate to {1 / spec.control_period:g} Hz or a multiple of it"
        )
    rig = make_rig(model, recording.joints, recording.actuators, recording.dt)
    if rig.held:
        raise Problem(
            "the task's observation needs every joint of its model, and the logs have no "
            f"{', '.join(rig.held[:5])}: record all joints"
        )
    if sorted(rig.controls.tolist()) != list(range(spec.action_size)):
        raise Problem(f"the task has {spec.action_size} actions and the logs have commands for {len(rig.controls)}")
    out: list[Episode] = []
    for part in recording.segments():
        rows = np.arange(0, len(part), every)
        if len(rows) <= FEWEST:
            continue
        qpos, qvel = np.zeros((len(rows), model.nq)), np.zeros((len(rows), model.nv))
        qpos[:, rig.positions], qvel[:, rig.dofs] = part.position[rows], part.velocity[rows]
        commands = np.zeros((len(rows) - 1, spec.action_size))
        commands[:, rig.controls] = np.add.reduceat(part.command[: rows[-1]], rows[:-1], axis=0) / every
        seen = _observed(robot_model, qpos, qvel)
        source = commands if policy is None else policy(History.of(seen[:-1]))
        out.append([Trajectory(seen, commands, spec.clip(commands), source, seen[1:])])
    if not out:
        raise Problem(f"no recording has more than {FEWEST} control steps of {spec.control_period:g} s")
    return out


def _observed(robot_model: RobotModel, qpos: Float, qvel: Float) -> Float:
    """What the task observes in each of these states (T, obs)."""
    data = mujoco.MjData(robot_model.model)
    names = ("qpos", "qvel", *robot_model.reads)
    fields: dict[str, list[Float]] = {name: [] for name in names}
    for at, speed in zip(qpos, qvel, strict=True):
        data.qpos[:], data.qvel[:] = at, speed
        mujoco.mj_forward(robot_model.model, data)
        for name in names:
            fields[name].append(np.array(getattr(data, name)))
    out = np.empty((len(qpos), robot_model.spec.observation_size))
    robot_model.observe({name: np.stack(values) for name, values in fields.items()}, out)
    return out
