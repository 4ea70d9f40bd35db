"""Robots that their own firmware drives, as a World: every method of adaptation can be tried on them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import mujoco
import numpy as np

from isthmus.core import Bool, Float, Int, Problem, Step, WorldSpec
from isthmus.firmware.board import Board
from isthmus.firmware.elf import Elf
from isthmus.firmware.loop import Loop, run_loops
from isthmus.firmware.reference import build_reference
from isthmus.sim import Fields, RobotModel

BOOT = 0.06
"""Seconds that a firmware has to come up, while the robot is held where its episode begins."""
AT_REST = (0.0, 0.0, 0.0, 0.0, 0.0, 9.81)
"""What an IMU shows of a robot that is held upright: rates, accelerations."""


@dataclass(frozen=True)
class _Places:
    """Where the joints of the board's robot are among those of the task's."""

    task_qpos: Int
    board_qpos: Int
    task_dof: Int
    board_dof: Int
    own_qpos: Int
    """Positions that are the task's own, as a clock: they move on with their velocity."""
    own_dof: Int


@final
class FirmwareWorld:
    """n robots of a task, each with a board. An action is what the host asks the firmware for."""

    def __init__(
        self, body: RobotModel, board: Board, elf: Elf, n: int, faults: Mapping[str, float] | None = None
    ) -> None:
        """Build n boards; `faults` are set on all of them."""
        if set(body.reads) - {"qpos", "qvel"}:
            raise Problem(
                f"this task looks at {', '.join(body.reads)}: a firmware target shows positions and velocities only"
            )
        if board.robot is None:
            raise Problem(f'{board.path} has no robot: a target needs one, as in robot = "leg"')
        period = board.host.period_ms * 1e-3
        if not np.isclose(period, body.spec.control_period):
            raise Problem(
                f"{board.path}: the host's period is {board.host.period_ms:g} ms, and the task's is "
                f"{1e3 * body.spec.control_period:g} ms: they must be the same"
            )
        self._body, self._loops = body, [Loop(board, elf) for _ in range(n)]
        for loop in self._loops:
            loop.faults(faults or {})
        if self._loops[0].rig.joints != body.spec.action_size:
            raise Problem(
                f"{board.path} has {len(board.joints)} motors, and the task has {body.spec.action_size} actions"
            )
        self._steps = round(period / self._loops[0].timestep)
        self._places = _places(body.model, self._loops[0], board)
        self._qpos, self._qvel = np.zeros((n, body.model.nq)), np.zeros((n, body.model.nv))
        self._ended = np.zeros(n, np.bool_)
        self._threads = os.cpu_count() or 1

    @property
    def spec(self) -> WorldSpec:
        """Names, limits and rates."""
        return self._body.spec

    @property
    def n(self) -> int:
        """How many robots there are."""
        return len(self._loops)

    @property
    def fields(self) -> Fields:
        """Positions and velocities, for scores and pictures."""
        return {"qpos": self._qpos, "qvel": self._qvel}

    def reset(self, rng: np.random.Generator, which: Bool | None = None) -> Float:
        """Switch the robots `which` on where an episode begins; they are held there until their firmware is up."""
        rows = np.arange(self.n) if which is None else np.flatnonzero(which)
        if len(rows):
            qpos, qvel = self._body.start(rng, len(rows))
            self._qpos[rows], self._qvel[rows], self._ended[rows] = qpos, qvel, False
            seeds = rng.integers(2**32, size=len(rows))
            for row, seed in zip(rows, seeds, strict=True):
                self._switch_on(int(row), int(seed))
            self._run(rows, round(BOOT / self._loops[0].timestep))
            for row in rows:
                self._loops[int(row)].turntable(None)
        return self._observed()

    def step(self, commands: Float, which: Bool | None = None) -> Step:
        """Let the host ask for commands (n, act), and wait one of its periods."""
        if commands.shape != (self.n, self.spec.action_size) or not np.isfinite(commands).all():
            raise ValueError(f"commands must be {(self.n, self.spec.action_size)} and finite, got {commands.shape}")
        applied = self.spec.clip(commands)
        moving = ~self._ended if which is None else which & ~self._ended
        rows = np.flatnonzero(moving)
        for row in rows:
            self._loops[int(row)].command(applied[row])
        self._run(rows, self._steps)
        self._read(rows)
        over = self._body.ended(self.fields)
        if over is not None:
            self._ended |= over & moving
        return Step(self._observed(), applied, self._ended.copy())

    def _switch_on(self, row: int, seed: int) -> None:
        loop, at = self._loops[row], self._places
        loop.reset(seed)
        assert loop.data is not None  # noqa: S101
        loop.data.qpos[at.board_qpos] = self._qpos[row, at.task_qpos]
        loop.data.qvel[at.board_dof] = self._qvel[row, at.task_dof]
        mujoco.mj_forward(loop.data.model, loop.data)
        loop.turntable(np.array([AT_REST]))

    def _run(self, rows: Int, steps: int) -> None:
        """Run whole periods of the host in the robots `rows`."""
        loops = [self._loops[int(row)] for row in rows]
        while steps > 0 and loops:
            part = min(steps, self._steps)
            for loop in loops:
                loop.before_period()
            halts = run_loops(loops, part, self._threads)
            for loop, halt in zip(loops, halts, strict=True):
                if halt:
                    raise loop.halted()
                loop.count_steps(part)
                loop.after_period()
            steps -= part

    def _read(self, rows: Int) -> None:
        at = self._places
        for row in rows:
            data = self._loops[int(row)].data
            assert data is not None  # noqa: S101
            self._qpos[row, at.task_qpos] = data.qpos[at.board_qpos]
            self._qvel[row, at.task_dof] = data.qvel[at.board_dof]
        period = self.spec.control_period
        self._qpos[np.ix_(rows, at.own_qpos)] += period * self._qvel[np.ix_(rows, at.own_dof)]

    def _observed(self) -> Float:
        out = np.zeros((self.n, self.spec.observation_size))
        self._body.observe(self.fields, out)
        return out

    def close(self) -> None:
        """Free what C holds."""
        for loop in self._loops:
            loop.close()


def firmware_of(board: Board) -> Elf:
    """The firmware that a board file names."""
    from isthmus.firmware.elf import read_elf  # noqa: PLC0415

    if board.firmware is None:
        raise Problem(f'{board.path} names no firmware: add it to [board], as in firmware = "robot.elf"')
    if board.firmware == "reference":
        return read_elf(build_reference(robot=board.robot or "quadruped"))
    return read_elf(board.path.parent / board.firmware)


def _places(task: mujoco.MjModel, loop: Loop, board: Board) -> _Places:
    """Match joints by name; a joint of the board's robot that the task does not know is refused."""
    assert loop.body is not None  # noqa: S101
    model = loop.body.model
    width = {mujoco.mjtJoint.mjJNT_FREE.value: (7, 6), mujoco.mjtJoint.mjJNT_BALL.value: (4, 3)}
    known = {task.joint(i).name: i for i in range(task.njnt)}
    pairs: list[tuple[list[int], ...]] = []
    for i in range(model.njnt):
        name = model.joint(i).name
        if name not in known:
            raise Problem(
                f"{board.path}: joint {name} of robot {board.robot} is not in the task's model: is it another robot?"
            )
        nq, nv = width.get(int(model.jnt_type[i]), (1, 1))
        j = known.pop(name)
        pairs.append(
            (
                [int(task.jnt_qposadr[j]) + k for k in range(nq)],
                [int(model.jnt_qposadr[i]) + k for k in range(nq)],
                [int(task.jnt_dofadr[j]) + k for k in range(nv)],
                [int(model.jnt_dofadr[i]) + k for k in range(nv)],
            )
        )
    joined = [np.array([place for places in part for place in places], np.int64) for part in zip(*pairs, strict=True)]
    own = list(known.values())
    own_qpos, own_dof = (np.array([int(adr[j]) for j in own], np.int64) for adr in (task.jnt_qposadr, task.jnt_dofadr))
    return _Places(joined[0], joined[1], joined[2], joined[3], own_qpos, own_dof)
