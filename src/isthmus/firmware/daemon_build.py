"""Build the reference daemon: the reference firmware as an ordinary Linux program."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from isthmus.core import Problem
from isthmus.firmware.reference import FOLDER as SOURCES
from isthmus.firmware.robot import FOLDER as BOARDS
from isthmus.io import write_whole

FLAGS = ("-O2", "-g", "-ffp-contract=off", "-pthread")
SECONDS = 120


def build_daemon(out: Path) -> Path:
    """Compile the daemon to `out` and put its board file beside it, whose place is returned."""
    compiler = next(
        (found for name in (os.environ.get("CC"), "cc", "gcc") if name and (found := shutil.which(name))), None
    )
    if compiler is None:
        raise Problem(
            "the daemon is written in C and no C compiler was found: install one (on Debian: apt install gcc)"
        )
    sources = [str(SOURCES / name) for name in ("robot_daemon.c", "control.c")]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "robot_daemon"
        command = [compiler, *FLAGS, *sources, "-o", str(made), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode:
            raise Problem(f"{compiler} could not compile the daemon: {done.stderr[-300:]}")
        write_whole(out, made.read_bytes())
    out.chmod(0o755)
    board = out.parent / f"{out.name}.toml"
    write_whole(board, (BOARDS / "linux.toml").read_bytes())
    return board
