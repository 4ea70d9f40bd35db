"""The emulated board in C, seen from Python."""

import ctypes as c
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from isthmus.core import Problem
from isthmus.firmware.board import Board, Peripheral
from isthmus.firmware.elf import Elf, Segment
from isthmus.firmware.extensions import NATIVE, ScriptedPeripheral, compiled_peripheral
from isthmus.firmware.rig import RIG_SOURCES, Rig, declare_rig
from isthmus.io.native import Library, load

BOARD_SOURCES = tuple(
    NATIVE / f"{name}.c" for name in ("cpu", "nvic", "peripherals", "timer", "dma", "usart", "i2c", "bxcan", "lockstep")
)
WATCH_TYPES = ("f32", "u32", "i32", "u16", "i16", "u8", "i8", "f64")


class Halt(Problem):
    """A processor that cannot go on."""

    def __init__(self, sentence: str, code: str, address: int, seconds: float) -> None:
        """Keep what stopped it and where."""
        super().__init__(sentence)
        self.code, self.address, self.seconds = code, address, seconds


def _wheel_library(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise Problem(f"{folder} has no {pattern}: install the wheel again")
    return found[0]


@cache
def board_library() -> c.CDLL:
    """Emulator, peripherals and lockstep with the physics; compiled when it is first used."""
    try:
        import unicorn  # noqa: PLC0415 - only this needs it
    except ImportError:
        raise Problem(
            "firmware is emulated by Unicorn, which is not installed: pip install isthmus[firmware]"
        ) from None
    processor, physics = Path(unicorn.__file__).parent, Path(mujoco.__file__).parent
    links = (_wheel_library(processor / "lib", "libunicorn.so*"), _wheel_library(physics, "libmujoco.so*"))
    headers = (processor / "include", physics / "include")
    library = load(Library("isthmus-firmware", RIG_SOURCES + BOARD_SOURCES, headers, links, ("-lpthread",)))
    pointer, integer, number = c.c_void_p, c.c_int, c.c_double
    functions: dict[str, tuple[Any, list[Any]]] = {
        "board_new": (pointer, [pointer, number, number, integer]),
        "board_region": (integer, [pointer, c.c_uint32, c.c_uint32, integer]),
        "board_load": (integer, [pointer, c.c_uint32, c.c_char_p, c.c_uint32]),
        "board_start": (integer, [pointer]),
        "board_reset": (None, [pointer]),
        "board_free": (None, [pointer]),
        "board_bytes": (pointer, [pointer, c.c_uint32, c.c_uint32]),
        "board_halted": (None, [pointer, pointer]),
        "board_counters": (None, [pointer, pointer]),
        "board_wall": (None, [pointer, number]),
        "board_line": (None, [pointer, integer, integer]),
        "board_calls": (None, [pointer, integer, pointer, pointer]),
        "board_peripheral_of": (
            integer,
            [pointer, pointer, c.c_char_p, c.c_uint32, c.c_uint32, pointer, integer, integer, number, number],
        ),
        "board_peripheral": (
            integer,
            [pointer, c.c_char_p, c.c_char_p, c.c_uint32, c.c_uint32, pointer, integer, integer, number, number],
        ),
        "uart_send": (integer, [pointer, integer, c.c_char_p, integer]),
        "uart_take": (integer, [pointer, integer, c.c_char_p, integer]),
        "uart_heard": (number, [pointer, integer]),
        "loop_new": (pointer, [pointer] * 7 + [integer] * 3 + [number]),
        "loop_free": (None, [pointer]),
        "loop_watch": (integer, [pointer, c.c_uint32, integer, integer]),
        "loop_width": (integer, [pointer]),
        "loop_record": (None, [pointer, pointer, c.c_int64]),
        "loop_recorded": (c.c_int64, [pointer]),
        "loop_force": (None, [pointer, pointer]),
        "loop_truth": (None, [pointer, pointer, integer]),
        "loop_restart": (None, [pointer]),
        "loops_run": (None, [pointer, integer, integer, integer, pointer]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return declare_rig(library)


@dataclass(frozen=True)
class CpuCounters:
    """What a processor did since its reset."""

    instructions: int
    blocks: int
    starts: int
    exceptions: int
    accesses: int
    watchdog_resets: int
    resets: int
    idle_cycles: int
    cycles: int
    nanoseconds: int


class Engine:
    """One emulated board with a firmware in its flash."""

    def __init__(self, board: Board, elf: Elf, *, exact: bool = False, wall_seconds: float = 600.0) -> None:
        """Put the firmware onto the board. `exact` delivers interrupts between any two instructions."""
        if board.cpu is None:
            raise Problem(
                f"{board.path} has no [cpu]: it is for a Linux program, and {elf.path} is for a microcontroller"
            )
        self.board, self.elf = board, elf
        self.library = board_library()
        self.rig = Rig(board, self.library)
        self.pointer: int | None = self.library.board_new(
            self.rig.pointer, board.cpu.clock_hz, board.cpu.cycles_per_instruction, exact
        )
        if not self.pointer:
            raise Problem("Unicorn could not make a Cortex-M4: is there enough memory?")
        for memory in board.memory:
            if self.library.board_region(self.pointer, memory.at, memory.size, memory.writable):
                raise Problem(f"{board.path}: memory {memory.name} at 0x{memory.at:x} cannot be mapped")
        self._load()
        self.scripted: list[ScriptedPeripheral] = []
        for one in board.peripherals:
            self._add(one)
        if self.library.board_start(self.pointer):
            raise Problem(f"{board.path}: the board cannot be started")
        self.library.board_wall(self.pointer, wall_seconds)
        self.rig.set_all(board.faults)
        self._link = board.peripheral(board.host.link) if board.host.link else None
        self._heard = c.create_string_buffer(8192)

    def _load(self) -> None:
        for segment in self.elf.segments:
            if self.library.board_load(self.pointer, segment.address, segment.data, len(segment.data)):
                end = segment.address + len(segment.data)
                raise Problem(
                    f"{self.elf.path} loads 0x{segment.address:08x} to 0x{end:08x}, "
                    f"where {self.board.path} has no memory"
                )
            self._check_kept(segment)
        flash = self.board.memory[0]
        if not any(flash.at == segment.address for segment in self.elf.segments):
            raise Problem(
                f"{self.elf.path} has no vector table: nothing of it lies at 0x{flash.at:08x}, where flash begins; "
                "is its section placed first by the linker script?"
            )

    def _check_kept(self, segment: Segment) -> None:
        """Refuse contents where there is none when power comes on."""
        for memory in self.board.memory:
            if memory.at <= segment.address < memory.at + memory.size and memory.writable and any(segment.data):
                raise Problem(
                    f"{self.elf.path} loads contents to 0x{segment.address:08x} in {memory.name}, which is empty when "
                    "power comes on: let the linker script place them in flash (AT> FLASH), or name the memory "
                    f"flash_{memory.name} in {self.board.path}"
                )

    def _add(self, one: Peripheral) -> None:
        cpu = self.board.cpu
        assert cpu is not None  # noqa: S101
        bus = self.rig.buses.get(one.name, -1)
        clock = cpu.apb2_hz if one.at >= 0x40010000 else cpu.apb1_hz
        if one.type == "stm32-timer" and clock < cpu.clock_hz:
            clock *= 2  # timers run at twice the clock of a divided bus
        option = self._option(one)
        irqs = (c.c_int * 8)(*one.irq)
        add, kind = self.library.board_peripheral, one.type.encode()
        if one.type.endswith(".c"):
            add, kind = self.library.board_peripheral_of, compiled_peripheral(self.library, self.board, one.type)
        elif one.type.endswith(".py"):
            kind = b"callback"
        made = add(self.pointer, kind, one.name.encode(), one.at, one.size, irqs, len(one.irq), bus, clock, option)
        if one.type.endswith(".py") and made >= 0:
            self.scripted.append(ScriptedPeripheral(self.library, self.pointer, self.board, one, made))
        if made < 0:
            raise Problem(f"{self.board.path}: peripheral {one.name} cannot be added: there are too many")

    def _option(self, one: Peripheral) -> float:
        """What a peripheral is told besides its place: the bits of a timer, whose filters a CAN controller uses."""
        if one.type == "bxcan":
            shared = any(other.filters == one.name for other in self.board.peripherals)
            return 1.0 + self.board.peripheral(one.filters) if one.filters else -1.0 if shared else 0.0
        return float(one.bits) if one.type == "stm32-timer" else one.rate

    def reset(self, seed: int) -> None:
        """Power on, at time zero."""
        self.rig.reset(seed)
        self.library.board_reset(self.pointer)

    def send(self, data: bytes) -> None:
        """Queue bytes of the host for the firmware."""
        if self._link is not None:
            self.library.uart_send(self.pointer, self._link, data, len(data))

    def take(self) -> bytes:
        """What the firmware has sent to the host since the last call."""
        if self._link is None:
            return b""
        n = self.library.uart_take(self.pointer, self._link, self._heard, len(self._heard))
        return c.string_at(self._heard, n)

    @property
    def heard_at(self) -> float:
        """When the last byte of the firmware reached the host, in seconds."""
        return float(self.library.uart_heard(self.pointer, self._link)) if self._link is not None else 0.0

    @property
    def counters(self) -> CpuCounters:
        """What the processor did."""
        out = np.zeros(10, np.int64)
        self.library.board_counters(self.pointer, out.ctypes.data)
        return CpuCounters(*map(int, out))

    def halted(self) -> Halt | None:
        """Why the processor stopped, if it did."""
        out = np.zeros(4, np.uint32)
        self.library.board_halted(self.pointer, out.ctypes.data)
        code, pc, address, link = map(int, out)
        return _halt(self.elf, code, pc, address, link, self.rig.seconds) if code else None

    def variable(self, name: str, dtype: str, count: int = 1) -> NDArray[Any]:
        """A variable of the firmware by its symbol: a live view of the board's memory."""
        symbol, kind = self.elf.symbol(name), np.dtype(dtype)
        at = self.library.board_bytes(self.pointer, symbol.address, kind.itemsize * count)
        if not at:
            raise Problem(f"{name} of {self.elf.path} lies at 0x{symbol.address:08x}, where the board has no memory")
        raw = (c.c_uint8 * (kind.itemsize * count)).from_address(at)
        return np.ctypeslib.as_array(raw).view(kind)

    def close(self) -> None:
        """Free what C holds."""
        if self.pointer:
            self.library.board_free(self.pointer)
            self.pointer = None
        self.rig.close()


def _halt(elf: Elf, code: int, pc: int, address: int, link: int, seconds: float) -> Halt:
    at, came = elf.where(pc), elf.where(link & ~1)
    name, text = {
        1: ("unmapped", f"accesses 0x{address:08x}, where the board has no memory, at {at}"),
        2: ("fetch", f"jumps to 0x{pc:08x}, where there is no code; the return address is {came}"),
        3: ("undefined", f"executes an undefined instruction at {at}"),
        4: ("stack", f"has its stack outside of memory (0x{address:08x}) when an interrupt comes, at {at}"),
        5: ("return", f"returns from an exception without being in one, at {at}"),
        6: ("endless", f"is in an endless loop that nothing can end (no watchdog runs), at {at}"),
        7: ("breakpoint", f"meets a breakpoint at {at}"),
        8: ("peripheral", f"accesses peripheral register 0x{address:08x}, which the board file does not have, at {at}"),
        9: ("vector", f"has no handler for exception {address} in its vector table{_irq(address)}"),
        10: ("wall", f"took longer than it may by the clock on the wall, at {at}"),
        11: ("flash", f"writes to flash at 0x{address:08x}, at {at}"),
        13: (
            "thumb",
            f"has an even address for exception {address} in its vector table{_irq(address)}, where the processor "
            "would fault: declare the handler as a function (.thumb_func, or .type NAME, %function)",
        ),
    }.get(code, ("other", f"cannot go on at {at}"))
    return Halt(f"{elf.path.name} {text}, {seconds:.6f} s after power-on", name, address, seconds)


def _irq(exception: int) -> str:
    return f" (interrupt {exception - 16})" if exception >= 16 else ""
