"""Read a 32-bit ARM ELF: what is loaded where, which symbol an address belongs to.

The file may come from anywhere: every offset and size is checked before it is used, and nothing in it is executed here.
"""

import shutil
import struct
import subprocess
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from isthmus.core import Problem
from isthmus.io import open_regular, read_regular

LARGEST = 64 * 2**20
"""Bytes of a file."""
MOST_SYMBOLS = 200_000
ARM = 40
MACHINES = {3: "x86", 8: "MIPS", 40: "ARM", 62: "x86-64", 94: "Xtensa", 183: "AArch64", 243: "RISC-V"}


@dataclass(frozen=True)
class Segment:
    """Bytes that are in memory when the processor starts."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """A function or a variable."""

    address: int
    size: int


@dataclass(frozen=True)
class Elf:
    """A firmware image."""

    path: Path
    entry: int
    segments: tuple[Segment, ...]
    symbols: dict[str, Symbol] = field(repr=False)

    @cached_property
    def _sorted(self) -> tuple[list[int], list[str]]:
        pairs = sorted((symbol.address & ~1, name) for name, symbol in self.symbols.items() if symbol.address)
        return [address for address, _ in pairs], [name for _, name in pairs]

    def where(self, address: int) -> str:
        """The address for people: with symbol and source line where the file has them."""
        text = f"0x{address:08x}"
        addresses, names = self._sorted
        at = bisect_right(addresses, address & ~1) - 1
        if at >= 0 and address - addresses[at] < 0x10000:
            offset = (address & ~1) - addresses[at]
            text += f" ({names[at]}{f'+0x{offset:x}' if offset else ''}"
            line = _line(self.path, address & ~1)
            text += f", {line})" if line else ")"
        return text

    def symbol(self, name: str) -> Symbol:
        """The variable of that name."""
        if name not in self.symbols:
            from isthmus.core import unknown_name  # noqa: PLC0415

            near = sorted(self.symbols)[:MOST_SYMBOLS]
            raise unknown_name(f"symbol of {self.path.name}", name, near[:40])
        return self.symbols[name]


def read_elf(path: Path) -> Elf:
    """The firmware in a file."""
    try:
        data = read_regular(path, limit=LARGEST, follow=True)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from None
    return _parse(path, data)


def is_linux_program(path: Path) -> bool:
    """Whether a file is a program for this machine's Linux and not for a microcontroller."""
    try:
        with open_regular(path, limit=1 << 32, follow=True) as file:
            head = file.read(20)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from None
    return len(head) == 20 and head[:4] == b"\x7fELF" and head[4] == 2


def _parse(path: Path, data: bytes) -> Elf:
    if len(data) < 52 or data[:4] != b"\x7fELF":
        raise Problem(f"{path} is no ELF file: give what the linker wrote, not a .bin or .hex")
    if data[4] != 1 or data[5] != 1:
        raise Problem(
            f"{path} is a {'64-bit' if data[4] == 2 else 'big-endian'} ELF: a Cortex-M4 runs 32-bit little-endian ones"
        )
    kind, machine = struct.unpack_from("<HH", data, 16)
    if machine != ARM:
        name = MACHINES.get(machine, f"machine {machine}")
        raise Problem(
            f"{path} is for {name}, not for an ARM Cortex-M4: build it with arm-none-eabi-gcc -mcpu=cortex-m4"
        )
    if kind != 2:
        raise Problem(f"{path} is not linked (its ELF type is {kind}, not 2): give the linked program")
    entry, phoff, shoff = struct.unpack_from("<III", data, 24)
    phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", data, 42)
    segments = _segments(path, data, phoff, phsize, phnum)
    return Elf(path, entry, segments, _symbols(data, shoff, shsize, shnum))


def _segments(path: Path, data: bytes, offset: int, size: int, count: int) -> tuple[Segment, ...]:
    found: list[Segment] = []
    for i in range(count):
        at = offset + i * size
        if size < 32 or at + 32 > len(data):
            raise Problem(f"{path} is cut short: its program headers end behind the file")
        kind, start, _, physical, filled = struct.unpack_from("<IIIII", data, at)
        if kind != 1 or not filled:
            continue
        if start + filled > len(data):
            raise Problem(f"{path} is cut short: its segment {i} ends behind the file")
        found.append(Segment(physical, data[start : start + filled]))
    if not found:
        raise Problem(f"{path} has nothing to load: no segment of it has contents")
    return tuple(found)


def _symbols(data: bytes, offset: int, size: int, count: int) -> dict[str, Symbol]:
    """All named symbols; none when the file is stripped or its tables make no sense."""
    headers: list[tuple[int, ...]] = []
    for i in range(min(count, 4096)):
        at = offset + i * size
        if size < 40 or at + 40 > len(data):
            return {}
        headers.append(struct.unpack_from("<10I", data, at))
    symbols: dict[str, Symbol] = {}
    for header in headers:
        _, kind, _, _, start, length, link, *_ = header
        if kind != 2 or link >= len(headers) or start + length > len(data):
            continue
        names_at, names_length = headers[link][4:6]
        names = data[names_at : min(names_at + names_length, len(data))]
        for k in range(min(length // 16, MOST_SYMBOLS)):
            name, value, extent, info, _, section = struct.unpack_from("<IIIBBH", data, start + 16 * k)
            end = names.find(b"\0", name) if name < len(names) else -1
            text = names[name : min(end, name + 200)].decode("ascii", "replace") if end > name else ""
            if text and text[0] != "$" and section and info & 15 in (0, 1, 2):
                symbols[text] = Symbol(value, extent)
    return symbols


def _line(path: Path, address: int) -> str:
    """File and line of an address, by addr2line where that is installed."""
    tool = shutil.which("arm-none-eabi-addr2line") or shutil.which("llvm-addr2line")
    if tool is None:
        return ""
    try:
        done = subprocess.run(
            [tool, "-e", str(path), hex(address)], capture_output=True, text=True, check=False, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    place = done.stdout.strip().split(" ")[0]
    name = Path(place.rpartition(":")[0]).name
    return (
        ""
        if place.startswith("?") or not name or place.endswith((":0", ":?"))
        else f"{name}:{place.rpartition(':')[2]}"
    )
