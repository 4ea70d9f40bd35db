"""The reference firmware: its sources are beside this file, and are built when they are first needed."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from isthmus.core import Problem, unknown_name
from isthmus.io.native import cache_folder

FOLDER = Path(__file__).parent
COMPILER = "arm-none-eabi-gcc"
SOURCES = ("start.c", "kernel.c", "imu.c", "can.c", "host.c", "main.c", "policy.c", "control.c")
FLAGS = [
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfpu=fpv4-sp-d16",
    "-mfloat-abi=hard",
    "-O3",
    "-g",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-nostartfiles",
    "--specs=nosys.specs",
]
BUGS = {
    "gyro-sign": "the attitude filter turns the wrong way about x",
    "no-clamp": "torques are not limited, and wrap around in the frame",
    "arrival-order": "replies are taken in the order in which they arrive, not by their id",
    "can-parse": "two nibbles of a reply are exchanged: the torque's bits are in the velocity",
    "stale-frame": "old replies and old IMU data are used as if they were new",
    "nack-unhandled": "an I2C transfer that is not acknowledged is waited for, for ever",
    "watchdog-unfed": "the watchdog is not fed in an emergency stop",
    "isr-race": "a task and an interrupt change a counter without a lock",
    "float-seconds": "time is kept in float seconds",
    "short-age": "ages are computed from 16-bit milliseconds",
    "dt-truncation": "the filter's time step is cut to whole milliseconds",
    "double-maths": "the attitude filter is computed in double precision, which the FPU does not have",
}
"""Bugs that can be built in, each behind a #define."""


def build_reference(bugs: tuple[str, ...] = (), robot: str = "quadruped") -> Path:
    """The ELF of the reference firmware, built now if it was not before."""
    for bug in bugs:
        if bug not in BUGS:
            raise unknown_name("bug", bug, BUGS)
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise Problem(
            f"the reference firmware is built with {COMPILER}, which is not installed "
            "(on Debian: apt install gcc-arm-none-eabi)"
        )
    defines = [f"-DBUG_{bug.replace('-', '_').upper()}" for bug in sorted(bugs)]
    defines += ["-DROBOT_LEG"] if robot == "leg" else []
    digest = hashlib.sha256(repr((FLAGS, defines)).encode())
    for path in sorted(FOLDER.glob("*.[chl]*")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    name = "-".join(("reference", robot, *sorted(bugs)))
    place = cache_folder() / f"{name}-{digest.hexdigest()[:12]}.elf"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _compile(compiler, defines, place)
    return place


def _compile(compiler: str, defines: list[str], place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        partial = Path(folder) / "firmware.elf"
        sources = [str(FOLDER / name) for name in SOURCES]
        command = [compiler, *FLAGS, *defines, "-T", str(FOLDER / "link.ld"), *sources, "-lm", "-lc", "-lgcc"]
        done = subprocess.run([*command, "-o", str(partial)], capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:])
            raise Problem(f"{compiler} could not build the reference firmware: {said}")
        partial.replace(place)
