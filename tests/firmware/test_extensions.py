"""Peripherals and devices in files of the user's."""

import ctypes as c
from pathlib import Path

import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop

HERE = Path(__file__).parent
BOARD = """
[peripheral.counter]
type = "counter.c"
at = 0x40030000

[peripheral.doubler]
type = "doubler.py"
at = 0x40031000

[device.echo]
type = "echo.c"
on = "i2c1"
address = 0x33
offset = 5
"""
COUNTER = """
#include "board.h"
static uint32_t reg_read(Peripheral *p, uint32_t offset) { (void)offset; return *(uint32_t *)p->state += 7; }
static void reg_write(Peripheral *p, uint32_t offset, uint32_t v) { (void)p, (void)offset, (void)v; }
FW_API const PeripheralType PERIPHERAL = {"counter", 4, 0, 0, reg_read, reg_write};
"""
DOUBLER = """
class Peripheral:
    def __init__(self, irq):
        self.value = 0
    def write(self, offset, value, seconds):
        self.value = 2 * value
    def read(self, offset, seconds):
        return self.value
"""
ECHO = """
#include "fw.h"
#include <stdlib.h>
typedef struct { double offset; int last; } Echo;
static int start(void *self, int read) { return (void)self, (void)read, 0; }
static int write_byte(void *self, uint8_t v) { return ((Echo *)self)->last = v, 0; }
static int read_byte(void *self) { return ((Echo *)self)->last + (int)((Echo *)self)->offset; }
static void reset(void *self, uint64_t seed) { (void)seed; ((Echo *)self)->last = 0; }
FW_API int add_device(Rig *rig, const char *name, int bus, int address, int joint) {
    (void)joint;
    Echo *e = calloc(1, sizeof *e);
    if (i2c_attach(rig->bus[bus].i2c, (I2cDevice){address, e, start, write_byte, read_byte, 0}) < 0) return -1;
    fw_knob(rig, name, "offset", &e->offset, 0);
    return fw_device(rig, name, e, reset);
}
"""


def loop_of(tmp_path: Path, elf: Path, **files: str) -> Loop:
    contents = {"counter.c": COUNTER, "doubler.py": DOUBLER, "echo.c": ECHO} | files
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "board.toml").write_text((HERE / "console.toml").read_text() + BOARD)
    return Loop(load_board(tmp_path / "board.toml"), read_elf(elf))


def test_files_in_c_and_python_are_part_of_the_board(program, tmp_path):
    with loop_of(tmp_path, program("extensions")) as loop:
        loop.reset(0)
        loop.run(0.01)
        assert loop.link.text.split() == ["7", "14", "40", "done"]
        out = c.create_string_buffer(1)
        assert loop.rig.library.fw_i2c_transfer(loop.rig.pointer, loop.rig.buses["i2c1"], 0x33, b"\x10", 1, out, 1) == 0
        assert out.raw == b"\x15"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("counter.c", "int x;", "has no `FW_API const PeripheralType"),
        ("counter.c", "int x", "could not compile"),
        ("echo.c", "int x;", "add_device"),
        ("doubler.py", "x = 1", "no Peripheral"),
        ("doubler.py", DOUBLER.replace("2 * value", "value / 0"), "failed: ZeroDivisionError"),
    ],
)
def test_a_file_that_fails_is_named(program, tmp_path, file, text, said):
    elf = program("extensions")

    def run() -> None:
        with loop_of(tmp_path, elf, **{file: text}) as loop:
            loop.reset(0)
            loop.run(0.01)

    with pytest.raises(Problem, match=said):
        run()
