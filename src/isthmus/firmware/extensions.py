"""Peripherals and devices of the user's own: a C file that is compiled, or a Python file that is asked, which is slow.

Both are code that a board file names, and that is run.
"""

import ctypes as c
import importlib.util
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

from isthmus.core import Problem
from isthmus.firmware.board import Board, Device, Peripheral
from isthmus.io.native import Library, build

NATIVE = Path(__file__).parent / "native"
READ, WRITE = c.CFUNCTYPE(c.c_uint32, c.c_uint32, c.c_double), c.CFUNCTYPE(None, c.c_uint32, c.c_uint32, c.c_double)


class Registers(Protocol):
    """What a Python file's `Peripheral(irq)` answers; `irq(True)` raises its interrupt line."""

    def read(self, offset: int, seconds: float) -> int:
        """What a register shows, at a time of the simulation."""
        ...

    def write(self, offset: int, value: int, seconds: float) -> None:
        """A register is written."""
        ...


def compiled_file(board: Board, name: str) -> Path:
    """A C file beside the board file, compiled. It may call what `native/fw.h` and `native/board.h` declare."""
    path = board.path.parent / name
    if not path.is_file():
        raise Problem(f"{board.path} names {name}, and there is no such file beside it")
    unicorn = importlib.util.find_spec("unicorn")
    headers = (NATIVE, *([Path(unicorn.origin).parent / "include"] if unicorn and unicorn.origin else []))
    stem = "".join(letter for letter in path.stem if letter.isalnum())
    return build(Library(f"isthmus-user-{stem}", (path,), headers))


def _compiled(library: c.CDLL, board: Board, name: str) -> c.CDLL:
    """A C file beside the board file, loaded."""
    c.CDLL(str(library._name), mode=c.RTLD_GLOBAL)  # pyright: ignore[reportPrivateUsage] - it is to find our functions
    return c.CDLL(str(compiled_file(board, name)))


def compiled_peripheral(library: c.CDLL, board: Board, name: str) -> int:
    """Where the value `PERIPHERAL` of a C file is."""
    try:
        return c.addressof(c.c_char.in_dll(_compiled(library, board, name), "PERIPHERAL"))
    except ValueError:
        raise Problem(f"{name} of {board.path} has no `FW_API const PeripheralType PERIPHERAL`") from None


def add_compiled(library: c.CDLL, board: Board, device: Device, rig: int | None, bus: int, joint: int) -> int:
    """Let the function `add_device` of a C file add a device to the rig."""
    try:
        add = _compiled(library, board, device.type).add_device
    except AttributeError:
        raise Problem(
            f"{device.type} of {board.path} has no "
            "`FW_API int add_device(Rig *, const char *name, int bus, int address, int joint)`"
        ) from None
    add.restype, add.argtypes = c.c_int, [c.c_void_p, c.c_char_p, c.c_int, c.c_int, c.c_int]
    return int(add(rig, device.name.encode(), bus, device.address, joint if device.joint is not None else -1))


class ScriptedPeripheral:
    """A peripheral that a Python file answers for: some microseconds an access."""

    def __init__(self, library: c.CDLL, board_pointer: int | None, board: Board, one: Peripheral, index: int) -> None:
        """Run the file, and connect its `Peripheral` with the board."""
        self._path, self._error = board.path.parent / one.type, ""

        def irq(level: bool) -> None:
            if one.irq:
                library.board_line(board_pointer, one.irq[0], int(level))

        self._registers = self._made(irq)
        self._calls = READ(self._read), WRITE(self._write)  # C keeps their addresses only
        pointers = [c.cast(call, c.c_void_p) for call in self._calls]
        library.board_calls(board_pointer, index, *pointers)

    def _made(self, irq: Callable[[bool], None]) -> Registers:
        if not self._path.is_file():
            raise Problem(f"there is no peripheral {self._path}")
        try:
            make = cast("Any", runpy.run_path(str(self._path)).get("Peripheral"))
            return cast("Registers", make(irq))
        except Exception as error:
            raise Problem(f"{self._path} has no Peripheral(irq) that can be made: {error}") from error

    def _read(self, offset: int, seconds: float) -> int:
        try:
            return int(self._registers.read(offset, seconds)) & 0xFFFFFFFF
        except Exception as error:
            self._error = self._error or f"{type(error).__name__}: {error}"
            return 0

    def _write(self, offset: int, value: int, seconds: float) -> None:
        try:
            self._registers.write(offset, value, seconds)
        except Exception as error:
            self._error = self._error or f"{type(error).__name__}: {error}"

    def check(self) -> None:
        """Say what went wrong in the file since the last time, if something did."""
        if self._error:
            error, self._error = self._error, ""
            raise Problem(f"the peripheral {self._path} failed: {error}")
