"""ELF files may come from anywhere."""

import random

import pytest

from isthmus.core import Problem
from isthmus.firmware.elf import read_elf


def test_symbols_and_lines_are_found(program):
    elf = read_elf(program("faults", "-DWRONG=BUSY"))
    culprit = elf.symbols["culprit"]
    assert culprit.size > 20
    assert "culprit" in elf.where(culprit.address)
    assert "faults.c:" in elf.where(culprit.address + 4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: b"MZ" + d[2:], "no ELF"),
        (lambda d: d[:30], "no ELF"),
        (lambda d: d[:4] + b"\2" + d[5:], "64-bit"),
        (lambda d: d[:18] + b"\x3e\0" + d[20:], "for x86-64, not for an ARM"),
        (lambda d: d[:16] + b"\1\0" + d[18:], "not linked"),
        (lambda d: d[:44] + b"\0\0" + d[46:], "nothing to load"),
        (lambda d: d[:600], "cut short"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(program, tmp_path, change, said):
    data = program("faults", "-DWRONG=BUSY").read_bytes()
    (tmp_path / "bad.elf").write_bytes(change(data))
    with pytest.raises(Problem, match=said):
        read_elf(tmp_path / "bad.elf")


def test_damaged_files_end_in_a_problem_or_are_read(program, tmp_path):
    data, rng = program("faults", "-DWRONG=BUSY").read_bytes(), random.Random(0)
    path, refused = tmp_path / "bad.elf", 0
    for _ in range(300):
        bad = bytearray(data)
        for _ in range(rng.randint(1, 12)):
            bad[rng.randrange(200) if rng.random() < 0.5 else rng.randrange(len(bad))] = rng.randrange(256)
        path.write_bytes(bad[: rng.randrange(len(bad))] if rng.random() < 0.3 else bad)
        try:
            read_elf(path)
        except Problem:
            refused += 1
    assert 20 < refused < 300
