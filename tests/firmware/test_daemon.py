"""A pthread daemon written against plain SocketCAN and i2c-dev keeps the quadruped on its feet."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.board import Board, load_board
from isthmus.firmware.body import Physics
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


@pytest.mark.parametrize(
    ("program", "code", "last"),
    [("true", 0, "every invariant held until the program ended"), ("false", 1, "the program ended with code 1")],
)
def test_a_program_that_ends_at_once_is_told_of(board: Board, program: str, code: int, last: str) -> None:
    done = run_daemon(Path(str(shutil.which(program))), board, 1.0, 0, {})
    assert done.exit_code == code
    assert [violation.name for violation in done.violations] == ["exit"] * (code != 0)
    assert last in done.lines()[-2]


PRESSURE = """
#include "fw.h"
static int start(void *self, int read) { return 0; }
static int put(void *self, uint8_t byte) { return 0; }
static int get(void *self) { return 0xB1; }
static void stop(void *self) {}
static void reset(void *self, uint64_t seed) {}
FW_API int add_device(Rig *rig, const char *name, int bus, int address, int joint) {
    I2cDevice device = {address, 0, start, put, get, stop};
    return i2c_attach(rig->bus[bus].i2c, device) < 0 ? -1 : fw_device(rig, name, 0, reset);
}
"""


def test_a_device_in_c_is_part_of_a_linux_board(tmp_path: Path) -> None:
    program = shutil.which("i2cget", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("i2cget is not installed")
    (tmp_path / "pressure.c").write_text(PRESSURE)
    text = '[board]\n[bus.i2c-1]\ntype = "i2c"\n[device.p]\ntype = "pressure.c"\non = "i2c-1"\naddress = 0x5C\n'
    (tmp_path / "board.toml").write_text(text)
    how = Run(arguments=("-y", "1", "0x5c", "0x0f"))
    assert run_daemon(Path(program), load_board(tmp_path / "board.toml"), 1.0, 0, {}, how).output.strip() == "0xb1"


def test_a_turntable_is_refused(board: Board) -> None:
    with pytest.raises(Problem, match="turntable"):
        run_daemon(Path(str(shutil.which("true"))), board, 1.0, 0, {}, motion="turntable")


ARM = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
<actuator><motor joint="j" gear="4"/></actuator></mujoco>"""


def test_the_torque_of_a_geared_motor_is_that_of_its_joint(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    text = '[board]\nrobot = "arm.xml"\n[bus.can0]\ntype = "can"\n[device.j]\ntype = "mit-motor"\non = "can0"\nid = 1\n'
    (tmp_path / "board.toml").write_text(text)
    physics = Physics(load_board(tmp_path / "board.toml"))
    physics.step(np.array([2.0]), np.zeros(3))
    assert physics._data.qfrc_actuator[0] == pytest.approx(2.0)  # pyright: ignore


def test_a_fault_that_does_not_exist_is_a_problem(board: Board) -> None:
    assert "set can0.loss 0.25" in script_of(board, {"can0.loss": 0.25})
    with pytest.raises(Problem, match="did you mean"):
        script_of(board, {"can0.los": 0.25})


def test_a_board_with_a_processor_is_refused(daemon: Path) -> None:
    with pytest.raises(Problem, match="not for a Linux program"):
        run_daemon(daemon, load_board(FOLDER / "quadruped.toml"), 1.0, 0, {})
