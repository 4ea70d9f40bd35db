"""Policies that were trained with the twin of a firmware and without it, tried on the firmware itself.

The leg squats twice a second, and what its host asks for arrives 10 to 40 ms late, as over a radio link. The twin is
fitted to one recording of another motion.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.core import AnyPolicy, stream
from isthmus.evaluate import evaluate
from isthmus.firmware.board import Board, load_board
from isthmus.firmware.loop import Loop
from isthmus.firmware.motions import motion_of
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.twin import Twin, fit_twin, quanta_of
from isthmus.firmware.world import FirmwareWorld, firmware_of
from isthmus.robots import load_task

TASK = "leg-squat:frequency=2"
LATE = {"usart1.delay_ms": 10.0, "usart1.jitter_ms": 30.0}
LINKS: dict[str, dict[str, float]] = {"prompt": {}, "late": LATE}
"""What the host's link does to its commands."""
RECORDED = 20.0
"""Seconds behind the twin."""
EVENTS = 80_000
"""A second, at most."""
EPISODES = 50
RANDOM = "delay=0:2"
"""Whole steps of delay, drawn anew for every episode: what one would do without a record."""


@dataclass(frozen=True)
class Arm:
    """A way to train."""

    name: str
    twin: bool = False
    randomise: str = ""


ARMS = (Arm("without the twin"), Arm("random delays", randomise=RANDOM), Arm("with the twin", twin=True))
SCRIPTED = "the task's own policy"


def leg_board() -> Board:
    """The leg's board."""
    return load_board(FOLDER / "leg.toml")


def record_twin() -> Twin:
    """The twin of the firmware behind a late link, from one recording of its usual squat."""
    board = leg_board()
    with Loop(board, firmware_of(board), trace=int(EVENTS * RECORDED)) as loop:
        loop.faults(LATE)
        loop.reset(0)
        loop.play(motion_of("squat"), RECORDED, 0)
        return fit_twin(loop.trace_events(), board.joints, *quanta_of(board))


def try_policy(policy: AnyPolicy, seed: int) -> dict[str, Any]:
    """Its score in the simulator, and on the firmware with either link, as shares of a full score."""
    task, board = load_task(TASK), leg_board()
    full = task.robot_model.spec.horizon
    figures = {
        "simulator": evaluate(task, task.source(EPISODES), policy, 1, stream(seed, "firmware", "try")).score / full
    }
    for name, faults in LINKS.items():
        world = FirmwareWorld(task.robot_model, board, firmware_of(board), EPISODES, faults)
        try:
            figures[name] = evaluate(task, world, policy, 1, stream(seed, "firmware", "try")).score / full
        finally:
            world.close()
    return figures


def policy_file(folder: Path, arm: Arm, seed: int) -> Path:
    """Where a trained policy is kept."""
    return folder / f"{arm.name.replace(' ', '-')}-{seed}.npz"
