"""Damage to a file: of its bytes, and of what is in it."""

import io
import json
import pickletools
import random
import struct
import zipfile
from collections.abc import Callable
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]
NASTY = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)


def flip_bits(content: bytes, rng: random.Random) -> bytes:
    """Some bits change."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(content: bytes, rng: random.Random) -> bytes:
    """Some bytes change."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 2, 4))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x28, 0x2E, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    """The end is missing, or a part in the middle."""
    start = rng.randrange(len(content) + 1)
    return content[:start] if rng.random() < 0.5 else content[:start] + content[start + rng.randrange(1, 64) :]


def splice(content: bytes, rng: random.Random) -> bytes:
    """A part of it comes once more, elsewhere."""
    start, to = rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)
    return content[:to] + content[start : start + rng.randrange(1, 256)] + content[to:]


def set_length(content: bytes, rng: random.Random) -> bytes:
    """A number of two to eight bytes becomes one that is hard to bear."""
    code = rng.choice("HIQ")
    size = struct.calcsize(code)
    if len(content) < size:
        return content
    at = rng.randrange(len(content) - size + 1)
    value = rng.choice(NASTY) & ((1 << 8 * size) - 1)
    return content[:at] + struct.pack(rng.choice("<>") + code, value) + content[at + size :]


def set_number(content: bytes, rng: random.Random) -> bytes:
    """A digit becomes many."""
    digits = [at for at, byte in enumerate(content[:100_000]) if 48 <= byte <= 57]
    if not digits:
        return content
    at = rng.choice(digits)
    return (
        content[:at] + rng.choice((b"9" * 400, b"9" * 5000, b"-1", b"1e999", b"0", b"99999999999")) + content[at + 1 :]
    )


PLAIN: tuple[Mutation, ...] = (flip_bits, set_bytes, cut, splice, set_length, set_number)


def plain(content: bytes, rng: random.Random) -> bytes:
    """One of the mutations of bytes."""
    return rng.choice(PLAIN)(content, rng)


def zipped(content: bytes, rng: random.Random) -> bytes:
    """One entry of a zip changes, and is packed again with a checksum that fits; nested zips and pickles too."""
    if rng.random() < 0.3:
        return plain(content, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, ValueError, EOFError):
        return plain(content, rng)
    chosen = rng.randrange(len(entries))
    name, inner = entries[chosen]
    entries[chosen] = (name, _inner(name, inner, rng))
    if rng.random() < 0.05:
        entries.pop(rng.randrange(len(entries)))
    if rng.random() < 0.05:
        entries.append(rng.choice(entries))
    packed = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(packed, "w", method, compresslevel=1) as archive:
        seen: set[str] = set()
        for number, (entry, data) in enumerate(entries):
            archive.writestr(entry if entry not in seen else f"{entry}{number}", data)
            seen.add(entry)
    return packed.getvalue()


def _inner(name: str, content: bytes, rng: random.Random) -> bytes:
    if name.endswith(".pth"):
        return zipped(content, rng)
    if name.endswith(".pkl"):
        return pickled(content, rng)
    if name == "data":
        return jsoned(content, rng)
    return _array_head(content, rng) if content.startswith(b"\x93NUMPY") and rng.random() < 0.5 else plain(content, rng)


def _array_head(content: bytes, rng: random.Random) -> bytes:
    """The shape or type in the head of an array changes; the head stays as long as it was."""
    end = content.index(b"\n") + 1
    kinds = (b"'<f8'", b"'<f4'", b"'|O'", b"'<i8'", b"'<U9'", b"'<c16'", b"'|b1'", b"'>f8'", b"[('a','<f8')]")
    shapes = (b"()", b"(0,)", b"(1,)", b"(-1,)", b"(999999999999,)", b"(1000000000, 0)", b"(2, 2)", b"(1, 1, 1, 1)")
    start = content.index(b"{")
    text = b"{'descr': " + rng.choice(kinds) + b", 'fortran_order': " + rng.choice((b"False", b"True"))
    head = text + b", 'shape': " + rng.choice(shapes) + b", }"
    return content[:start] + head.ljust(end - start - 1)[: end - start - 1] + b"\n" + content[end:]


def pickled(content: bytes, rng: random.Random) -> bytes:
    """Instructions of a pickle are dropped, doubled, swapped or put in."""
    if rng.random() < 0.3:
        return plain(content, rng)
    try:
        starts = [at or 0 for _, _, at in pickletools.genops(content)]
    except Exception:
        return plain(content, rng)
    parts = [content[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, to = rng.randrange(len(parts)), rng.randrange(len(parts))
        kind = rng.randrange(4)
        if kind == 0 and len(parts) > 1:
            parts.pop(at)
        elif kind == 1:
            parts.insert(at, parts[to])
        elif kind == 2:
            parts[at], parts[to] = parts[to], parts[at]
        else:
            parts.insert(at, _instruction(rng))
    return b"".join(parts)


def _instruction(rng: random.Random) -> bytes:
    codes = [code.code.encode("latin1") for code in pickletools.opcodes if code.arg is None]
    size = struct.pack("<I", rng.choice(NASTY) & 0xFFFFFFFF)
    known = (b"r" + size, b"j" + size, b"\x95" + size * 2, b"\x8e" + size * 2, b"\x96" + size * 2, b"T" + size)
    names = (b"cos\nsystem\n", b"cbuiltins\neval\n", b"cnumpy\ndtype\n", b"ccollections\nOrderedDict\n", b"I99\n")
    return rng.choice((rng.choice(codes), rng.choice(known), rng.choice(names)))


def jsoned(content: bytes, rng: random.Random) -> bytes:
    """A value somewhere in a JSON text becomes another."""
    if rng.random() < 0.3:
        return plain(content, rng)
    try:
        data: Any = json.loads(content)
    except ValueError:
        return plain(content, rng)
    places: list[tuple[Any, Any]] = []
    _collect(data, places)
    if not places:
        return plain(content, rng)
    for _ in range(rng.choice((1, 1, 1, 3))):
        holder, key = rng.choice(places)
        if rng.random() < 0.1 and isinstance(holder, dict) and key in holder:
            del holder[key]
        elif isinstance(holder, list) or key in holder:
            holder[key] = rng.choice(VALUES)()
    text = json.dumps(data)
    text = text.replace(f'"{HUGE}"', "9" * 400)
    for name, depth in {DEEP: 20_000, STEEP: 940}.items():
        text = text.replace(f'"{name}"', "[" * depth + "]" * depth)
    return text.encode()


HUGE, DEEP, STEEP = "a number of 400 digits", "a list in a list in a list", "one that can just be read"
VALUES: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: 0,
    lambda: -1,
    lambda: 10**18,
    lambda: 1e308,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: HUGE,
    lambda: DEEP,
    lambda: STEEP,
    lambda: "",
    lambda: "../../etc/passwd",
    lambda: "x" * 10_000,
    lambda: "gravity=1," * 20_000,
    list,
    dict,
    lambda: [None],
    lambda: {"a": 1},
)


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:  # noqa: ANN401
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()  # pyright: ignore
    for key in list(keys):
        places.append((value, key))  # pyright: ignore[reportUnknownArgumentType]
        _collect(value[key], places)
