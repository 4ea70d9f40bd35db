"""Small programs for the emulated board, compiled once."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop
from isthmus.firmware.reference import COMPILER, FLAGS, FOLDER

HERE = Path(__file__).parent
# Compiled libraries are kept from one run of the tests to the next: HOME is not that of a person here.
os.environ.setdefault("ISTHMUS_CACHE", str(HERE.parents[1] / ".pytest_cache" / "native"))


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """Compiles one of the programs; returns its ELF."""
    if shutil.which(COMPILER) is None:
        pytest.skip(f"{COMPILER} is not installed")

    def build(name: str, *defines: str) -> Path:
        out = tmp_path / f"{name}.elf"
        source, script = HERE / "programs" / f"{name}.c", FOLDER / "link.ld"
        subprocess.run([COMPILER, *FLAGS, *defines, "-T", script, source, "-lc", "-lgcc", "-o", out], check=True)
        return out

    return build


@pytest.fixture
def console(program: Callable[..., Path]) -> Callable[..., str]:
    """Runs one of the programs and returns what it printed."""

    def run(name: str, seconds: float = 0.05) -> str:
        with Loop(load_board(HERE / "console.toml"), read_elf(program(name))) as loop:
            loop.reset(0)
            loop.run(seconds)
            return loop.link.text

    return run
