"""Archives are unpacked within bounds, whatever their headers claim."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.io import load_arrays, save_arrays
from isthmus.io.bounded import Unreadable, parse_npy, unpack


def packed(**entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file


def test_the_entries_of_an_archive_share_one_bound():
    file = packed(**{f"x{i}": bytes(1000) for i in range(10)})
    assert len(unpack(file, largest=10_000)) == 10
    with pytest.raises(Unreadable, match="unpacks to more than"):
        unpack(file, largest=9_999)


def test_a_size_that_a_header_claims_is_not_believed():
    """The directory says 100 bytes, the entry unpacks to a megabyte: no more than 100 come out."""
    content = bytearray(packed(x=bytes(1 << 20)).getvalue())
    directory = content.index(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 100)
    with pytest.raises(Unreadable):
        unpack(io.BytesIO(content), largest=1 << 10)


def test_entries_that_are_not_asked_for_are_not_unpacked():
    file = packed(small=b"small", large=bytes(1 << 20))
    assert unpack(file, ("small",), largest=100) == {"small": b"small"}


def test_too_many_entries_are_refused_before_the_directory_is_read(monkeypatch):
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(Unreadable, match="more than 10000 entries"):
        unpack(io.BytesIO(b"PK\x01\x02" * 10_001))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_what_unpacks_step_by_step_is_unpacked(method):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x", bytes(1000))
    with pytest.raises(Unreadable, match="packed in a way that is not in use"):
        unpack(file)


def test_damage_within_an_entry_is_a_problem(tmp_path):
    """Its error is one of zlib."""
    save_arrays(tmp_path / "sound.npz", {"x": np.zeros(1000)}, {"kind": "k"})
    with np.load(tmp_path / "sound.npz") as arrays:
        np.savez_compressed(tmp_path / "damaged.npz", **arrays)
    content = bytearray((tmp_path / "damaged.npz").read_bytes())
    content[45:60] = b"\xff" * 15
    (tmp_path / "damaged.npz").write_bytes(content)
    with pytest.raises(zlib.error), np.load(tmp_path / "damaged.npz") as arrays:
        [arrays[name] for name in arrays.files]
    with pytest.raises(Problem, match=r"damaged\.npz is not a k file, or it is damaged"):
        load_arrays(tmp_path / "damaged.npz", "k")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f4", "<i8", "|b1", "<U7", "|u1", "<c16"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (4, 0), (1, 2, 3)])
def test_an_array_is_read_as_numpy_wrote_it(order, kind, shape):
    array = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind), order=order)
    file = io.BytesIO()
    np.save(file, array)
    again = parse_npy(bytearray(file.getvalue()))
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype


def head(descr, shape):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return bytearray(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.encode())


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("'<f8'", "(1000000000000,)"),
        ("'<f8'", "(1000000000000, 0)"),
        ("'<U1000000000'", "()"),
        ("'<U0'", "(1000000000000,)"),
        ("'|V0'", "(9,)"),
        ("'|O'", "()"),
        ("'<f3'", "()"),
        ("[('a', '<f8')]", "()"),
        ("'<f8'", "(-1,)"),
        ("'<f8'", "(" + "9" * 60 + "x,)"),
        ("'<f8'", "(" + "1," * 60 + ")"),
        ("'<f8'", "()"),
    ],
)
def test_a_head_that_promises_what_is_not_there_is_refused(descr, shape):
    with pytest.raises(Unreadable):
        parse_npy(head(descr, shape))
