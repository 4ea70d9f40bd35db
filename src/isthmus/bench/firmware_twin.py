"""The statistical twin of a firmware in a batched world: what it costs beside the physics."""

import mujoco
import numpy as np
from mujoco.batch import Batch

from isthmus.bench.measure import Benchmark, in_turns
from isthmus.firmware.board import load_board
from isthmus.firmware.robot import FOLDER, load_body
from isthmus.firmware.twin import Twin, quanta_of

WORLDS, PHYSICS_STEPS = 256, 20
"""Physics steps of 1 ms in a control step."""
CALLS = 5


def firmware_twin(repeats: int) -> Benchmark:
    """Both channels of the twin against the physics of a control step, for 256 quadrupeds of twelve joints."""
    board = load_board(FOLDER / "quadruped.toml")
    body = load_body(board)
    assert body is not None  # noqa: S101 - this board has a robot
    joints, rng, dt = len(board.joints), np.random.default_rng(0), PHYSICS_STEPS * 1e-3
    ages = rng.uniform(1e-3, 5e-3, (joints, 5000))
    twin = Twin(board.joints, 2e-3, ages, ages[:, :500], *quanta_of(board))
    both = [*range(joints), *range(joints)]
    quanta = [twin.position_quantum] * joints + [twin.velocity_quantum] * joints
    sensors, actions = twin.sensors(WORLDS, both, quanta, dt), twin.actions(WORLDS, range(joints), dt)
    states, targets = rng.normal(0, 1, (WORLDS, 2 * joints)), rng.normal(0, 1, (WORLDS, joints))
    for channel, first in ((sensors, states), (actions, targets)):
        channel.begin(first, {}, rng, slice(None))
    start = mujoco.MjData(body.model)
    mujoco.mj_resetDataKeyframe(body.model, start, body.keyframe)
    batch = Batch(body.model, nsim=WORLDS, nthread=1)
    batch.bind("qpos")[:] = start.qpos

    def ours() -> None:
        for _ in range(CALLS):
            sensors(states, {}, slice(None))
            actions(targets, {}, slice(None))

    def floor() -> None:
        for _ in range(CALLS):
            batch.step(None, nstep=PHYSICS_STEPS)

    ratio, half_iqr = in_turns(ours, floor, repeats)
    against = f"physics of a control step of 20 ms, {WORLDS} quadrupeds"
    return Benchmark("firmware-twin", ratio, half_iqr, against, goal=0.05, better="lower")
