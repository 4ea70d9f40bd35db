"""The cases of a campaign fit the boards they are made for."""

from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.faults import all_cases, choose, lacking
from isthmus.firmware.invariants import DEFAULTS
from isthmus.firmware.loop import Loop
from isthmus.firmware.reference import build_reference
from isthmus.firmware.rig import Rig
from isthmus.firmware.robot import FOLDER

BARE = "[board]\n[cpu]\n[memory]\nflash = [0x08000000, 0x1000]\nram = [0x20000000, 0x1000]\n"


@pytest.mark.parametrize("name", ["leg", "quadruped"])
def test_every_fault_exists_on_the_reference_boards(name: str) -> None:
    pytest.importorskip("unicorn")
    board = load_board(FOLDER / f"{name}.toml")
    cases = all_cases(board, race=True)
    with Loop(board, read_elf(build_reference(robot=name))) as loop:
        for case in cases:
            assert lacking(case, board) == ""
            loop.faults(case.knobs)
    assert len({case.name for case in cases}) == len(cases) >= 30


def test_a_linux_board_leaves_out_what_needs_a_processor() -> None:
    board = load_board(FOLDER / "linux.toml")
    left_out = {case.name for case in all_cases(board, race=True) if lacking(case, board)}
    assert {"clock-fast", "brown-out", "race-hunt", "turntable"} <= left_out
    rig = Rig(board)
    for case in all_cases(board):
        if case.name not in left_out:
            rig.set_all({name: value for name, value in case.knobs.items() if not name.startswith("ttyAMA0.")})
    rig.close()


def test_a_board_without_devices_runs_what_needs_none(tmp_path: Path) -> None:
    (tmp_path / "bare.toml").write_text(BARE)
    board = load_board(tmp_path / "bare.toml")
    runs = {case.name for case in all_cases(board) if not lacking(case, board)}
    assert "nominal" in runs
    assert not runs & {"joint-silent", "imu-dead", "host-lost", "bus-off"}


def test_excuses_and_factors_name_invariants() -> None:
    for case in all_cases(load_board(FOLDER / "quadruped.toml"), race=True):
        assert {*case.expect.excused, *case.limits} <= {*DEFAULTS}


def test_an_unknown_case_is_a_problem() -> None:
    cases = all_cases(load_board(FOLDER / "leg.toml"))
    assert [case.name for case in choose(cases, ["imu-dead", "nominal"])] == ["nominal", "imu-dead"]
    with pytest.raises(Problem, match="did you mean 'imu-dead'"):
        choose(cases, ["imu-ded"])
