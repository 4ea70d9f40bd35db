"""Robots with firmware as targets of a transfer."""

from isthmus.cli.firmware.run import find_board
from isthmus.firmware.world import FirmwareWorld, firmware_of
from isthmus.tasks import Task
from isthmus.transfer.targets.target import MakeWorld


def emulated(text: str) -> MakeWorld:
    """From a board file, or the name of a board that ships, to robots that their firmware drives."""
    board = find_board(text)
    elf = firmware_of(board)

    def make(task: Task, n: int) -> FirmwareWorld:
        return FirmwareWorld(task.robot_model, board, elf, n)

    return make
