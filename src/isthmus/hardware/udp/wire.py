"""The packets: a header of 24 bytes, then numbers of 8 bytes, all little-endian, for microcontrollers too.

bytes  what
0-3    ISTH
4      version, 1
5      kind: 1 hello, 2 reading, 3 command, 4 hold
6      what commands ask for: 0 position, 1 effort
7      number of joints n
8-11   CRC-32 of the joints' names, joined by line feeds: both ends mean the same joints in the same order
12-15  number of the packet, rising
16-23  time in seconds by the sender's clock (float64)
24-    reading: n positions, n velocities; command: the seconds it counts for, n values; otherwise nothing
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from isthmus.core import Float
from isthmus.hardware.driver import Commands

MAGIC, VERSION = b"ISTH", 1
HEADER = struct.Struct("<4sBBBBIId")
Kind = Literal["hello", "reading", "command", "hold"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MODES: tuple[Commands, ...] = get_args(Commands)
MOST = 2048
"""Bytes that a packet may have: it is not split up on its way, and it bounds what is read."""


@dataclass(frozen=True)
class Packet:
    """One packet."""

    kind: Kind
    commands: Commands
    joints: int
    """CRC-32 of the joints' names."""
    count: int
    """How many joints there are."""
    number: int
    stamp: float
    values: Float
    """The numbers after the header."""


def joints_crc(names: Sequence[str]) -> int:
    """What tells joints in one order from all others."""
    return zlib.crc32("\n".join(names).encode())


def packed(packet: Packet) -> bytes:
    """The packet as bytes."""
    header = HEADER.pack(
        MAGIC,
        VERSION,
        KINDS.index(packet.kind) + 1,
        MODES.index(packet.commands),
        packet.count,
        packet.joints,
        packet.number % 2**32,
        packet.stamp,
    )
    return header + packet.values.astype("<f8").tobytes()


def unpacked(data: bytes) -> Packet | None:
    """The packet in `data`; None where it is none: anybody can send to a port."""
    if len(data) < HEADER.size or len(data) > MOST:
        return None
    magic, version, *numbers, stamp = HEADER.unpack_from(data)
    kind, mode, count, joints, number = map(int, numbers)
    if magic != MAGIC or version != VERSION or not 1 <= kind <= len(KINDS) or mode >= len(MODES):
        return None
    size = {"reading": 2 * count, "command": 1 + count}.get(KINDS[kind - 1], 0)
    if len(data) != HEADER.size + 8 * size:
        return None
    values = np.frombuffer(data, "<f8", size, HEADER.size).astype(np.float64)
    return Packet(KINDS[kind - 1], MODES[mode], joints, count, number, float(stamp), values)
