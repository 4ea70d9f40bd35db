"""Board files are checked value by value."""

import os
import re
from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.robot import FOLDER, load_body

HERE = Path(__file__).parent

TEXT = (HERE / "console.toml").read_text()
QUADRUPED = (FOLDER / "quadruped.toml").read_text()


def load(tmp_path: Path, text: str):
    (tmp_path / "board.toml").write_text(text)
    return load_board(tmp_path / "board.toml")


def test_the_boards_that_ship_are_read():
    board = load_board(FOLDER / "quadruped.toml")
    assert len(board.joints) == 12
    assert [bus.kind for bus in board.buses] == ["can"] * 4 + ["i2c"]
    assert load_body(board).model.nu == 12
    assert load_board(FOLDER / "leg.toml").joints == ("abduction", "hip", "knee")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ram = [0x20000000, 0x20000]", "ram = [0x08010000, 0x20000]", "overlap"),
        ("ram = [0x20000000, 0x20000]", "", r"\[memory\] has no ram"),
        ("ram = [0x20000000, 0x20000]", "ram = [0x20000001, 0x20000]", "multiples of 0x1000"),
        ("ram = [0x20000000, 0x20000]", "ram = [0x40000000, 0x20000]", "where peripherals are"),
        ("at = 0x40005400", "at = 0x40006400", "overlap"),
        ("at = 0x40005400", "at = 0x40005500", "must be a multiple of 0x400"),
        ("irq = [19, 20, 21, 22]", 'filters = "can2"', "controller with filters of its own"),
        ("at = 0x40005400", "at = 0x20005400", "at is"),
        ('type = "stm32-i2c"', 'type = "stm32-i3c"', "did you mean 'stm32-i2c'"),
        ('on = "i2c1"', 'on = "can1"', "choose from i2c1"),
        ("id = 2", "id = 1", "both have"),
        ("id = 2", "id = 2048", "must be from 0 to 2047"),
        ("id = 2", "id = nan", "must be a number"),
        ("clock_hz = 168e6", "clock_mhz = 168", "unknown setting 'clock_mhz'"),
        ("irq = 28", "irq = 400", "irq is"),
        ("irq = 28", "irq = 28.5", "must be whole numbers"),
        ("at = 0x40005400", "at = 0x50060800", "at is 0x50060800, and must be a multiple"),
        ("ram = [", "".join(f"r{i} = [0x3{i}000000, 0x1000]\n" for i in range(7)) + "ram = [", "at most 8 can be used"),
        ('link = "usart1"', 'link = "usart2"', "choose from usart1"),
        ("[cpu]", "[cpu", "no TOML file"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path, old, new, said):
    assert old in TEXT
    with pytest.raises(Problem, match=said):
        load(tmp_path, TEXT.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('joint = "FL_hip"', 'joint = "FL_hp"', "did you mean 'FL_hip'"),
        ('site = "imu"', 'site = "imo"', "did you mean 'imu'"),
        ('robot = "quadruped"', 'robot = "horse.xml"', "horse.xml"),
        ('keyframe = "stand"', 'keyframe = "sit"', "choose from stand"),
        ('joint = "FL_hip"', 'joint = "root"', "neither a hinge nor a slide"),
    ],
)
def test_a_robot_that_does_not_fit_the_board_is_refused(tmp_path, old, new, said):
    assert old in QUADRUPED
    with pytest.raises(Problem, match=said):
        load_body(load(tmp_path, QUADRUPED.replace(old, new, 1)))


def test_numbers_of_a_board_are_those_of_the_file(tmp_path):
    board = load(
        tmp_path,
        TEXT + '\n[watch]\nx = "sym:i16:3"\n[fault]\n"can*.loss" = 0.25\n[invariants]\nmax_torque = 7\nallow = true\n',
    )
    assert board.watch["x"].count == 3
    assert board.faults == {"can*.loss": 0.25}
    assert board.invariants == {"max_torque": 7, "allow": True}
    assert re.fullmatch(r"0x40006400", hex(board.peripherals[0].at))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no \\[board\\]"),
        ("[board]\nname = 'a'\n[cpu]\nclock_hz = 1" + "0" * 400, "clock_hz must be a number"),
        ("[board]\nname = 1" + "0" * 5000, "is no TOML file"),
    ],
)
def test_what_is_no_board_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "board.toml").write_text(text)
    with pytest.raises(Problem, match=said) as refused:
        load_board(tmp_path / "board.toml")
    assert len(str(refused.value)) < 400


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    for read in (load_board, read_elf):
        pipe = tmp_path / read.__name__
        os.mkfifo(pipe)
        with pytest.raises(Problem, match="only regular files"):
            read(pipe)
