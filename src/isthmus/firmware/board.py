"""The board file: which processor, memory, peripherals and devices there are, and how they are wired."""

import tomllib
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from isthmus.core import Problem, unknown_name
from isthmus.firmware.board_tables import Table
from isthmus.io import read_regular

LARGEST = 1_000_000
"""Bytes of a board file."""
Irqs = tuple[int, ...]
BUS_TYPES: dict[str, Literal["can", "i2c"]] = {"bxcan": "can", "stm32-i2c": "i2c"}
PERIPHERAL_TYPES = (
    "bxcan",
    "mark",
    "registers",
    "stm32-dma",
    "stm32-i2c",
    "stm32-iwdg",
    "stm32-rcc",
    "stm32-timer",
    "stm32-usart",
)
DEVICE_TYPES = ("lsm6dsox", "mit-motor")
SOURCES = (".c", ".py")
"""A type that ends so names a file of the user's beside the board file, which is code and is run."""
PROTOCOLS = ("isthmus", "console", "none")
PERIPHERAL_SPAN = (0x40000000, 0x40080000)
PAGE = 0x400
MOST_IRQ = 111
MOST_REGIONS = 8


@dataclass(frozen=True)
class Cpu:
    """The processor and its clocks."""

    model: str = "cortex-m4"
    clock_hz: float = 168e6
    apb1_hz: float = 42e6
    apb2_hz: float = 84e6
    cycles_per_instruction: float = 1.0


@dataclass(frozen=True)
class Memory:
    """A region of memory. The first one holds the vector table."""

    name: str
    at: int
    size: int

    @property
    def writable(self) -> bool:
        """Whether it is RAM."""
        return not self.name.startswith("flash")


@dataclass(frozen=True)
class Peripheral:
    """A peripheral of the microcontroller."""

    name: str
    type: str
    at: int
    size: int = 0x400
    irq: Irqs = ()
    rate: float = 0.0
    """Bit rate of a bus; baud rate of the host."""
    bits: int = 16
    """Of a timer."""
    filters: str = ""
    """The controller whose filter banks this one uses, as CAN2 of an STM32F4 those of CAN1."""


@dataclass(frozen=True)
class Bus:
    """A CAN or I2C bus."""

    name: str
    kind: Literal["can", "i2c"]
    rate: float


@dataclass(frozen=True)
class Device:
    """Something on a bus."""

    name: str
    type: str
    on: str
    joint: str | None = None
    site: str | None = None
    id: int = 0
    reply_id: int = 0
    address: int = 0
    knobs: dict[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Host:
    """What talks to the firmware from outside."""

    link: str = ""
    protocol: str = "none"
    period_ms: float = 20.0


@dataclass(frozen=True)
class Watch:
    """A variable of the firmware that is recorded with every physics step."""

    symbol: str
    type: str
    count: int


@dataclass(frozen=True)
class Board:
    """A board, checked."""

    path: Path
    name: str
    robot: str | None
    keyframe: str | None
    firmware: str | None
    """The ELF that belongs to it, beside the file; or `reference`, which is built."""
    cpu: Cpu | None
    """None for a Linux program."""
    memory: tuple[Memory, ...]
    peripherals: tuple[Peripheral, ...]
    buses: tuple[Bus, ...]
    devices: tuple[Device, ...]
    host: Host
    watch: dict[str, Watch]
    invariants: dict[str, float | bool]
    faults: dict[str, float]

    @property
    def is_linux(self) -> bool:
        """Whether it is made for a Linux program."""
        return self.cpu is None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that have a motor, in the order of the file."""
        return tuple(device.joint for device in self.devices if device.joint is not None)

    def peripheral(self, name: str) -> int:
        """The place of the peripheral of that name."""
        return [one.name for one in self.peripherals].index(name)


def load_board(path: Path) -> Board:
    """The board that a file describes."""
    try:
        text = read_regular(path, limit=LARGEST, follow=True)
    except OSError as error:
        raise Problem(f"cannot read board file {path}: {error.strerror}") from None
    try:
        values = tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:  # no TOML, no text, or a number of thousands of digits
        raise Problem(f"{path} is no TOML file: {error}") from None
    if "board" not in values:
        raise Problem(f"{path} has no [board]: see docs/firmware.md for what describes a board")
    top = Table(str(path), values)
    board = _board(path, top)
    top.finish()
    return board


def _board(path: Path, top: Table) -> Board:
    about = top.table("board")
    name = about.text("name", path.stem)
    robot, keyframe = about.optional_text("robot"), about.optional_text("keyframe")
    firmware = about.optional_text("firmware")
    about.finish()
    cpu = _cpu(top.table("cpu")) if top.has("cpu") else None
    memory = _memory(top.table("memory")) if cpu else ()
    peripherals = tuple(_peripheral(key, one) for key, one in top.tables("peripheral")) if cpu else ()
    _check_layout(path, memory, peripherals)
    _check_filters(path, peripherals)
    buses = tuple(Bus(p.name, BUS_TYPES[p.type], p.rate) for p in peripherals if p.type in BUS_TYPES)
    buses += tuple(_bus(key, one) for key, one in top.tables("bus"))
    devices = tuple(_device(key, one, buses, robot) for key, one in top.tables("device"))
    _check_devices(path, devices)
    host = _host(top.table("host"), peripherals, is_emulated=cpu is not None)
    watch = {key: _watch(top.where, key, value) for key, value in top.table("watch").texts().items()}
    return Board(
        path,
        name,
        robot,
        keyframe,
        firmware,
        cpu,
        memory,
        peripherals,
        buses,
        devices,
        host,
        watch,
        top.table("invariants").numbers(booleans=True),
        {key: float(value) for key, value in top.table("fault").numbers().items()},
    )


def _cpu(table: Table) -> Cpu:
    model = table.choice("model", ("cortex-m4",), "cortex-m4")
    cpu = Cpu(
        model,
        table.number("clock_hz", 168e6, least=1e6, most=1e9),
        table.number("apb1_hz", 42e6, least=1e5, most=1e9),
        table.number("apb2_hz", 84e6, least=1e5, most=1e9),
        table.number("cycles_per_instruction", 1.0, least=0.25, most=16),
    )
    table.finish()
    return cpu


def _memory(table: Table) -> tuple[Memory, ...]:
    regions = tuple(Memory(key, *table.region(key)) for key in table.names())
    if len(regions) > MOST_REGIONS:
        raise Problem(f"{table.where} has {len(regions)} regions, at most {MOST_REGIONS} can be used")
    names = [region.name for region in regions]
    for needed in ("flash", "ram"):
        if needed not in names:
            raise Problem(f"{table.where} has no {needed}: give it as in {needed} = [0x08000000, 0x40000]")
    table.finish()
    return tuple(sorted(regions, key=lambda region: region.name != "flash"))


def _peripheral(name: str, table: Table) -> Peripheral:
    kind = table.text("type")
    if not kind.endswith(SOURCES):
        kind = table.checked("type", kind, PERIPHERAL_TYPES)
    at, (begin, end) = table.integer("at", least=0, most=0xFFFFFFFF), PERIPHERAL_SPAN
    if at % PAGE or not begin <= at < end:
        raise Problem(
            f"{table.where}: at is 0x{at:08x}, and must be a multiple of 0x{PAGE:x} from 0x{begin:x} to 0x{end:x}"
        )
    size = table.integer("size", 0x400, least=4, most=0x10000)
    irq = table.integers("irq", most=MOST_IRQ)
    if kind == "bxcan" and len(irq) == 1:  # the interrupt of the first receive FIFO alone
        irq = (-1, *irq)
    rate = {"bxcan": ("bitrate", 1e6), "stm32-i2c": ("hz", 400e3), "stm32-usart": ("baud", 0.0)}.get(kind)
    made = Peripheral(
        name,
        kind,
        at,
        size,
        irq,
        table.number(*rate, least=0 if kind == "stm32-usart" else 1e3, most=1e8) if rate else 0.0,
        table.integer("bits", 16, least=16, most=32) if kind == "stm32-timer" else 16,
        table.text("filters", "") if kind == "bxcan" else "",
    )
    table.finish()
    return made


def _bus(name: str, table: Table) -> Bus:
    kind = table.choice("type", ("can", "i2c"))
    rate = (
        table.number("bitrate", 1e6, least=1e3, most=1e8)
        if kind == "can"
        else table.number("hz", 400e3, least=1e3, most=1e7)
    )
    table.finish()
    return Bus(name, "can" if kind == "can" else "i2c", rate)


def _device(name: str, table: Table, buses: tuple[Bus, ...], robot: str | None) -> Device:
    kind = table.text("type")
    if not kind.endswith(SOURCES[:1]):
        kind = table.checked("type", kind, DEVICE_TYPES)
    wanted = {"lsm6dsox": "i2c", "mit-motor": "can"}.get(kind)
    on = table.choice("on", [bus.name for bus in buses if wanted in (None, bus.kind)])
    knobs: dict[str, float] = {}
    if wanted is None:
        number = table.integer("address", 0, least=0, most=0x7FF)
        made = Device(name, kind, on, joint=table.optional_text("joint"), address=number, knobs=knobs)
        knobs |= {key: float(value) for key, value in table.numbers().items()}
        return made
    if kind == "lsm6dsox":
        address, site = table.integer("address", 0x6A, least=0, most=0x7F), table.optional_text("site")
        made = Device(name, kind, on, site=site, address=address, knobs=knobs)
    else:
        number = table.integer("id", least=0, most=0x7FF)
        low, high = table.interval("reply_ms", (0.4, 0.4), least=0, most=1000)
        knobs |= {"reply_lo_ms": low, "reply_hi_ms": high}
        joint = table.text("joint", name) if robot or table.has("joint") else name
        reply = table.integer("reply_id", min(number + 0x40, 0x7FF), least=0, most=0x7FF)
        made = Device(name, kind, on, joint=joint, id=number, reply_id=reply, knobs=knobs)
    knobs |= {key: float(value) for key, value in table.numbers().items()}
    return made


def _host(table: Table, peripherals: tuple[Peripheral, ...], *, is_emulated: bool) -> Host:
    links = [p.name for p in peripherals if p.type == "stm32-usart"]
    link = ""
    if table.has("link"):
        link = table.choice("link", links) if is_emulated else table.text("link").replace("/", "_")
    protocol = table.choice("protocol", PROTOCOLS, "none")
    host = Host(link, protocol, table.number("period_ms", 20.0, least=1, most=1000))
    if protocol != "none" and not link:
        raise Problem(
            f"{table.where} has a protocol and no link: name the USART, as in {links[0] if links else 'usart1'!r}"
        )
    table.finish()
    return host


def _watch(where: str, key: str, text: str) -> Watch:
    parts = text.split(":")
    types = ("f32", "u32", "i32", "u16", "i16", "u8", "i8", "f64")
    count = parts[2] if len(parts) > 2 else "1"
    if len(parts) not in (2, 3) or parts[1] not in types or not count.isdecimal() or not 0 < int(count[:6]) <= 64:
        raise Problem(f"{where}: watch.{key} is {text!r}: give SYMBOL:TYPE:COUNT with a type of {', '.join(types)}")
    return Watch(parts[0], parts[1], int(count))


def _check_layout(path: Path, memory: tuple[Memory, ...], peripherals: tuple[Peripheral, ...]) -> None:
    """Refuse what overlaps."""
    spans = [(m.at, m.at + m.size, f"memory {m.name}") for m in memory]
    spans += [(p.at, p.at + p.size, f"peripheral {p.name}") for p in peripherals]
    spans.sort()
    for (_, end, first), (start, _, second) in pairwise(spans):
        if start < end:
            raise Problem(
                f"{path}: {first} ends at 0x{end:08x}, and {second} already begins at 0x{start:08x}: they overlap"
            )


def _check_filters(path: Path, peripherals: tuple[Peripheral, ...]) -> None:
    """Refuse filter banks of what has none of its own."""
    for one in peripherals:
        owners = [p.name for p in peripherals if p.type == "bxcan" and not p.filters and p.name != one.name]
        if one.filters and one.filters not in owners:
            raise unknown_name(f"controller with filters of its own, for {one.name} of {path}", one.filters, owners)


def _check_devices(path: Path, devices: tuple[Device, ...]) -> None:
    seen: dict[tuple[object, ...], str] = {}
    for device in devices:
        number = device.address if device.type == "lsm6dsox" else device.id
        keys: list[tuple[object, ...]] = [(device.on, "number", number)]
        if device.joint is not None:
            keys.append(("joint", device.joint))
        for key in keys:
            if key in seen:
                what = f"joint {device.joint!r}" if key[0] == "joint" else f"{device.on} number 0x{number:x}"
                raise Problem(f"{path}: devices {seen[key]} and {device.name} both have {what}")
            seen[key] = device.name
