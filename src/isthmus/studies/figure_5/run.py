"""Run what is missing of figure 5: each cell with a stand-in robot of its own, freshly switched on."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from isthmus.core import Problem
from isthmus.data import check_tree, read_regular, write_json, write_whole
from isthmus.data.bounded import brief
from isthmus.report.cord import Tie, save_cord
from isthmus.report.run import Run
from isthmus.report.video import film
from isthmus.ros import Address
from isthmus.ros.cord import WORLD, find_cord
from isthmus.ros.processes import free_port, ros_master, stand_in
from isthmus.studies.figure_5.cell import Outcome, run_cell
from isthmus.studies.figure_5.settings import Settings
from isthmus.studies.figure_5.summary import Summary
from isthmus.tasks.fetch.arm import PREFIX
from isthmus.transfer import RunFolder
from isthmus.transfer.events import Watcher

SHOWN = "preview"
"""The method whose arm is in the video."""
LONGEST_ADDRESS = 1000
"""Bytes."""


def reproduce_figure_5(
    settings: Settings,
    out: Path,
    *,
    speed: float,
    video: bool = True,
    tell: Callable[[str], None] = lambda _what: None,
    watch: Watcher | None = None,
) -> Summary:
    """All cells of the figure, those that are there already left as they are; the summary is written after each."""
    if not speed > 0:
        raise Problem(f"speed must be positive, got {speed:g}")
    folder = out / settings.folder
    check_tree(folder)
    # Method by method, so that a study that is stopped early can be compared with PD on every robot.
    cells = [(robot, method) for method in settings.methods for robot in settings.robots]
    paths = {cell: folder / "cells" / f"{cell[0]}-{cell[1]}.json" for cell in cells}
    # The port is part of a crossing's configuration: one that goes on needs the same.
    address = _address(folder)
    with ExitStack() as stack:
        if any(not path.exists() for path in paths.values()):
            stack.enter_context(ros_master(address))
        for robot, method in cells:
            if not paths[robot, method].exists():
                tell(f"{method} on the {robot} robot")
                run = RunFolder(folder / "runs" / f"{robot}-{method}")
                with stand_in(address, robot=robot, speed=speed):
                    outcome = run_cell(robot, method, settings, address, run, watch)
                    if method == SHOWN:
                        _keep_cord(address, run)
                write_json(paths[robot, method], outcome.to_json())
                _summary(paths).write(folder)
    shown = RunFolder(folder / "runs" / f"{settings.robots[0]}-{SHOWN}")
    if video and shown.result_path.exists() and not (folder / "arm.mp4").exists():
        tell("drawing the arm")
        drawn = film(shown, Run.load(shown))
        if drawn.mp4:
            write_whole(folder / "arm.mp4", drawn.mp4)
        else:
            tell(drawn.text)
    return _summary(paths)


def _summary(paths: dict[tuple[str, str], Path]) -> Summary:
    found = [Outcome.load(path) for path in paths.values() if path.exists()]
    return Summary.of(sorted(found, key=lambda one: one.robot))


def _keep_cord(address: Address, run: RunFolder) -> None:
    """Keep where the robot's cord is tied, for the video alone and after all is done."""
    ties = [Tie(one.link if one.link == WORLD else PREFIX + one.link, one.point) for one in find_cord(address)]
    if ties:
        save_cord(run.path, (ties[0], ties[1]))


def _kept_address(path: Path) -> Address:
    try:
        address = Address.parse(read_regular(path, limit=LONGEST_ADDRESS).decode("utf-8").strip())
    except (OSError, ValueError) as error:
        raise Problem(f"{path} does not hold an address ({brief(error)}): remove it to begin at another") from error
    if not address.local:
        raise Problem(f"{path} names a robot on another machine, where no stand-in is: remove it")
    return address


def _address(folder: Path) -> Address:
    """Where the master is: on a free port of this machine, the same for all of the study."""
    path = folder / "address.txt"
    if path.exists():
        return _kept_address(path)
    address = Address(port=free_port())
    write_whole(path, f"{address}\n".encode())
    return address
