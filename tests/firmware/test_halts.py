"""A firmware that goes wrong is told of in one sentence, and nothing hangs."""

from dataclasses import replace
from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import Segment, read_elf
from isthmus.firmware.engine import Halt
from isthmus.firmware.loop import Loop

HERE = Path(__file__).parent

WRONGS = {
    "UNMAPPED": ("unmapped", "0x90000000"),
    "FETCH": ("fetch", "0x30000000"),
    "UNDEFINED": ("undefined", "culprit"),
    "ENDLESS": ("endless", "culprit"),
    "PERIPHERAL": ("peripheral", "0x40012344"),
    "FLASH": ("flash", "0x08000100"),
    "VECTOR": ("vector", "exception 11"),
    "STACK": ("stack", "outside of memory"),
    "NULLCALL": ("fetch", "0x00000000"),
    "BREAKPOINT": ("breakpoint", "culprit"),
    "THUMB": ("thumb", "even address for exception 11"),
}


@pytest.mark.parametrize("wrong", WRONGS)
def test_what_went_wrong_is_named(program, wrong):
    code, part = WRONGS[wrong]
    with Loop(load_board(HERE / "console.toml"), read_elf(program("faults", f"-DWRONG={wrong}"))) as loop:
        loop.reset(0)
        with pytest.raises(Halt) as caught:
            loop.run(0.01)
    assert caught.value.code == code
    assert part in str(caught.value)
    assert "culprit" in str(caught.value) or code in ("vector", "fetch", "stack", "thumb")


def test_an_endless_computation_is_stopped_by_the_wall(program):
    with Loop(
        load_board(HERE / "console.toml"), read_elf(program("faults", "-DWRONG=BUSY")), wall_seconds=0.001
    ) as loop:
        loop.reset(0)
        with pytest.raises(Halt, match="wall"):
            loop.run(50.0)


def test_contents_of_ram_that_are_lost_when_power_comes_on_are_refused(program):
    elf = read_elf(program("faults", "-DWRONG=BUSY"))
    elf = replace(elf, segments=(*elf.segments, Segment(0x20000000, b"\1\2\3\4")))
    with pytest.raises(Problem, match="ram, which is empty when power comes on"):
        Loop(load_board(HERE / "console.toml"), elf)


def test_a_firmware_that_does_not_fit_the_memory_is_refused(program, tmp_path):
    text = (HERE / "console.toml").read_text().replace("[0x08000000, 0x40000]", "[0x00200000, 0x40000]")
    (tmp_path / "other.toml").write_text(text)
    with pytest.raises(Problem, match=r"where .* has no memory"):
        Loop(load_board(tmp_path / "other.toml"), read_elf(program("faults", "-DWRONG=BUSY")))
