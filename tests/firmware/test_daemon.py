"""A pthread daemon written against plain SocketCAN and i2c-dev keeps the quadruped on its feet."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.board import Board, load_board
from isthmus.firmware.daemon import BLIND, Run, run_daemon, script_of
from isthmus.firmware.daemon_build import build_daemon
from isthmus.firmware.invariants import Expectation
from isthmus.firmware.motions import MOTIONS
from isthmus.firmware.robot import FOLDER

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def board() -> Board:
    """A Linux computer in the quadruped."""
    return load_board(FOLDER / "linux.toml")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reference daemon, compiled as on any Linux computer."""
    program = tmp_path_factory.mktemp("daemon") / "robot_daemon"
    assert build_daemon(program).name == "robot_daemon.toml"
    return program


def test_the_daemon_stands_and_a_run_repeats(board: Board, daemon: Path) -> None:
    first, again = (run_daemon(daemon, board, 1.2, 5, {}, motion="squat") for _ in range(2))
    assert (first.violations, first.exit_code, first.refused) == ((), None, "")
    assert first.events.tobytes() == again.events.tobytes()
    assert first.record.qpos[-1, 2] > 0.24
    assert np.nanmax(first.record.command_age[300:]) < 3e-3
    assert first.counters["i2c_errors"] == 0
    assert BLIND in first.lines()


def test_the_daemon_stops_when_the_host_falls_silent(board: Board, daemon: Path) -> None:
    how = Run(MOTIONS["stand"], Expectation(stop_at=0.6))
    done = run_daemon(daemon, board, 1.2, 0, {"ttyAMA0.lost_from": 0.6}, how)
    assert "emergency stop, cause 4" in done.output
    assert done.violations == ()
    assert done.record.telemetry_estop[-1] == 4


def test_a_silent_imu_is_named_as_the_cause(board: Board, daemon: Path) -> None:
    done = run_daemon(daemon, board, 0.6, 0, {"imu.dead_from": 0.3})
    assert "emergency stop, cause 2" in done.output
    assert done.counters["i2c_errors"] > 50


def test_a_fault_that_does_not_exist_is_a_problem(board: Board) -> None:
    assert "set can0.loss 0.25" in script_of(board, {"can0.loss": 0.25})
    with pytest.raises(Problem, match="did you mean"):
        script_of(board, {"can0.los": 0.25})


def test_a_board_with_a_processor_is_refused(daemon: Path) -> None:
    with pytest.raises(Problem, match="not for a Linux program"):
        run_daemon(daemon, load_board(FOLDER / "quadruped.toml"), 1.0, 0, {})
