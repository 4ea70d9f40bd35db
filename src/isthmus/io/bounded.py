"""Reading archives from strangers: what they unpack to is counted while it is unpacked, never taken from a header."""

import math
import re
import zipfile
from collections.abc import Collection
from typing import IO, Any, Literal

import numpy as np

LARGEST = 384 << 20
"""Bytes that the entries of an archive may unpack to, all together."""
MOST_ENTRIES = 10_000
CHUNK = 1 << 20
DIRECTORY_ENTRY = b"PK\x01\x02"
"""Begins every entry of a zip's directory: an archive has at most as many entries as it has of these."""
NPY = re.compile(
    rb"\x93NUMPY(?:\x01\x00..|[\x02\x03]\x00....)"
    rb"\{'descr': '([<>|=]?[biufcSU]\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(([\d, ]{0,400})\), \} *\n",
    re.DOTALL,
)
"""How an array begins that NumPy wrote; arrays of Python objects and records do not match."""
MOST_EMPTY = 1 << 20
"""Largest dimension of an array without elements: walking along it costs time that no bytes have paid for."""


class Unreadable(ValueError):  # noqa: N818 - it is a finding, not a fault of the program
    """A file that is damaged or made to do harm; says why in a few words."""


def unpack(file: IO[bytes], only: Collection[str] | None = None, *, largest: int = LARGEST) -> dict[str, bytearray]:
    """The entries of a zip by name, or those of `only` that it has; Unreadable where it is damaged or too large."""
    if _directory_entries(file) > MOST_ENTRIES:
        raise Unreadable(f"it has more than {MOST_ENTRIES} entries")
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if only is None or entry.filename in only]
            unpacked: dict[str, bytearray] = {}
            for entry in entries:
                content = _unpack_entry(archive, entry, largest)
                largest -= len(content)
                if unpacked.setdefault(entry.filename, content) is not content:
                    raise Unreadable(f"it has several entries {entry.filename[:60]!r}")  # noqa: TRY301
            return unpacked
    except (Unreadable, MemoryError):
        raise
    except Exception as error:  # a damaged zip fails in many ways: zlib.error, struct.error, EOFError, ...
        raise Unreadable(brief(error)) from error


def _directory_entries(file: IO[bytes]) -> int:
    count, tail = 0, b""
    file.seek(0)
    while chunk := file.read(CHUNK):
        count += (tail + chunk).count(DIRECTORY_ENTRY)
        tail = chunk[1 - len(DIRECTORY_ENTRY) :]
    file.seek(0)
    return count


def _unpack_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, largest: int) -> bytearray:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack in steps of any size
        raise Unreadable(f"{entry.filename!r} is packed in a way that is not in use")
    content = bytearray()
    with archive.open(entry) as packed:
        while chunk := packed.read(CHUNK):
            content += chunk
            if len(content) > largest:
                raise Unreadable(f"it unpacks to more than {LARGEST >> 20} MB or its share of that")
    return content


def parse_npy(content: bytearray) -> np.ndarray:
    """The array in the content of an npy file, without a copy; Unreadable unless the bytes are all there."""
    found = NPY.match(content)
    if found is None:
        raise Unreadable("it holds something else than arrays of numbers and text")
    descr, fortran, sizes = found.groups()
    shape = tuple(int(size) for size in sizes.replace(b",", b" ").split())
    if len(shape) > 32 or max(shape, default=0) >> 40:
        raise Unreadable("an array of such a shape is not all there")
    try:
        kind: np.dtype[Any] = np.dtype(descr.decode())
    except TypeError as error:
        raise Unreadable(f"there are no arrays of {descr.decode()}") from error
    size = math.prod(shape)
    if size * kind.itemsize != len(content) - found.end() or not kind.itemsize:
        raise Unreadable(f"an array of shape {shape} is not all there")
    if not size and max(shape) > MOST_EMPTY:
        raise Unreadable(f"there is nothing in an array of shape {shape}")
    order: Literal["F", "C"] = "F" if fortran == b"True" else "C"
    return np.frombuffer(content, kind, size, found.end()).reshape(shape, order=order)


def brief(error: BaseException) -> str:
    """The first line of an error, shortened; its type where it says nothing."""
    return str(error).splitlines()[0][:120] if str(error).strip() else type(error).__name__
