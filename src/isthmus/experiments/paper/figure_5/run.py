"""Run what is missing of figure 5: each cell with a stand-in robot of its own, freshly switched on."""

from collections.abc import Callable, Mapping
from pathlib import Path

from isthmus.core import Problem
from isthmus.experiments.grid import Json, Progress, Watch, run_grid
from isthmus.experiments.paper.figure_5.cell import FILMED, swing_cell
from isthmus.experiments.paper.figure_5.settings import Settings
from isthmus.experiments.paper.figure_5.summary import Summary
from isthmus.experiments.store import CellFiles
from isthmus.hardware.processes import free_port, ros_master
from isthmus.hardware.ros1 import Address
from isthmus.io import read_regular, write_whole
from isthmus.io.bounded import brief
from isthmus.report.run import Run
from isthmus.report.video import film
from isthmus.transfer import RunFolder

LONGEST_ADDRESS = 1000
"""Bytes."""


def reproduce_figure_5(
    settings: Settings,
    out: Path,
    *,
    speed: float,
    video: bool = True,
    tell: Callable[[str], None] = lambda _what: None,
    watch: Watch[Json] = lambda _progress: None,
) -> Summary:
    """Run the cells of the figure that are not stored; figure-5.json is written after each."""
    if not speed > 0:
        raise Problem(f"speed must be positive, got {speed:g}")
    folder = out / settings.folder
    store = CellFiles(folder, keep_runs=True)
    # Method by method, so that a figure that is stopped early has PD, to compare with, on every robot.
    address = _address(folder)
    cells = {
        (robot, method): swing_cell(robot, method, settings, address, speed)
        for method in settings.methods
        for robot in settings.robots
    }

    def summary(found: Mapping[str, Json]) -> Summary:
        return Summary.of({key: found[cell.file] for key, cell in cells.items() if cell.file in found})

    def show(progress: Progress[Json]) -> None:
        if progress.latest:
            summary(progress.found).write(folder)
        watch(progress)

    with ros_master(address):
        found = run_grid(list(cells.values()), store, show, workers=1)
    filmed = RunFolder(store.place(cells[settings.robots[0], FILMED]))
    if video and filmed.result_path.exists() and not (folder / "arm.mp4").exists():
        tell("drawing the arm")
        drawn = film(filmed, Run.load(filmed))
        if drawn.mp4:
            write_whole(folder / "arm.mp4", drawn.mp4)
        else:
            tell(drawn.text)
    return summary(found)


def _address(folder: Path) -> Address:
    """Where the ROS master is: on a free port, and always the same, since a run that continues needs the same."""
    path = folder / "address.txt"
    if path.exists():
        return _stored_address(path)
    address = Address(port=free_port())
    write_whole(path, f"{address}\n".encode())
    return address


def _stored_address(path: Path) -> Address:
    try:
        address = Address.parse(read_regular(path, limit=LONGEST_ADDRESS).decode("utf-8").strip())
    except (OSError, ValueError) as error:
        raise Problem(f"{path} does not hold an address ({brief(error)}): remove it to begin at another") from error
    if not address.local:
        raise Problem(f"{path} names a robot on another machine, where no stand-in is: remove it")
    return address
