"""Start an unmodified Linux program under the shim, and step it together with a simulation.

The shim (`shim/*.c`) is preloaded into the program. It holds the buses and devices, and gives the program virtual time.
This side owns the physics: once a physics step the program's process writes the motors' torques into a shared page and
waits until the next state is there.
"""

import ctypes
import os
import socket
import stat
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from typing import Self

import numpy as np

from isthmus.core import Float, Problem
from isthmus.firmware.rig import RIG_SOURCES, TRACE
from isthmus.io import native, open_regular

HERE = Path(__file__).parent
SHIM = native.Library("isthmus-shim", (*sorted((HERE / "shim").glob("*.c")), *RIG_SOURCES))
VERSION = 1
MAX_JOINTS = 64
SCRIPT_BYTES = 32768


class Page(ctypes.Structure):
    """What both processes see; `Shared` of `shim/wires.h`."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("version", "joints", "step_ns", "start_ns")),
        ("seed", ctypes.c_uint64),
        ("trace_capacity", ctypes.c_int64),
        ("script", ctypes.c_char * SCRIPT_BYTES),
        *((name, ctypes.c_int64) for name in ("now", "trace_count")),
        ("sensors", ctypes.c_double * (2 * MAX_JOINTS + 6)),
        *(
            (name, ctypes.c_double * MAX_JOINTS)
            for name in ("torques", "asked", "command_age", "sample_age", "max_gap")
        ),
        *((name, ctypes.c_int64) for name in ("host_in_count", "host_out_count")),
        ("host_in", ctypes.c_uint8 * 1024),
        ("host_out", ctypes.c_uint8 * 4096),
        *(
            (name, ctypes.c_int64)
            for name in ("frames_sent", "frames_received", "frames_dropped", "i2c_transfers", "i2c_errors")
        ),
        ("bus_counters", ctypes.c_int64 * 48),
        ("said", ctypes.c_char * 512),
    ]


class Stuck(Problem):
    """The program computed for longer than the wall budget without waiting for anything."""


class Shim:
    """A program under the shim. Use it as a context manager: leaving it ends the program."""

    def __init__(
        self,
        command: Sequence[str],
        script: str,
        joints: int,
        *,
        step_seconds: float = 1e-3,
        start_seconds: float = 100.0,
        seed: int = 0,
        trace: int = 0,
        wall_seconds: float = 10.0,
        sensors: Float | None = None,
    ) -> None:
        program = check_program(Path(command[0]))
        self.command = command
        self.wall_seconds = wall_seconds
        size = ctypes.sizeof(Page) + trace * TRACE.itemsize
        memory = os.memfd_create("isthmus-shim")
        os.ftruncate(memory, size)
        self._map = mmap(memory, size)
        self.page = Page.from_buffer(self._map)
        self.page.version, self.page.joints, self.page.seed = VERSION, joints, seed
        self.page.step_ns, self.page.start_ns = round(step_seconds * 1e9), round(start_seconds * 1e9)
        self.page.trace_capacity = trace
        text = script.encode()
        if len(text) >= SCRIPT_BYTES:
            raise Problem("the board has too many devices for the shim")
        self.page.script = text
        self.sensors = np.frombuffer(self.page.sensors, dtype=np.float64)[: 2 * joints + 6]
        self._ring = np.frombuffer(self._map, dtype=TRACE, offset=ctypes.sizeof(Page), count=trace) if trace else None
        if sensors is not None:  # before the program begins, which does not wait to be asked
            self.sensors[:] = sensors
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the program
        self._start(program, memory)

    def _start(self, program: Path, memory: int) -> None:
        library = native.build(SHIM)
        ours, theirs = socket.socketpair()
        theirs.setblocking(True)  # whatever a library has made the default: the program shares this description
        environment = dict(os.environ, LD_PRELOAD=str(library), ISTHMUS_SHIM=f"{memory},{theirs.fileno()}")
        try:
            self.process = subprocess.Popen(
                [str(program), *self.command[1:]],
                env=environment,
                pass_fds=(memory, theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=subprocess.STDOUT,
            )
        except OSError as e:
            ours.close()
            raise Problem(f"{program} could not be started: {e.strerror}") from None
        finally:
            os.close(memory)
            theirs.close()
        ours.settimeout(self.wall_seconds)
        self._socket = ours

    def await_step(self) -> bool:
        """Wait until the program has used up a physics step; False once it has ended."""
        try:
            return bool(self._socket.recv(1))
        except ConnectionError:
            return False
        except TimeoutError:
            self.process.kill()
            raise Stuck(
                f"{self.command[0]} has computed for {self.wall_seconds:g} s at {self.page.now * 1e-9:.3f} s of "
                "simulated time without sleeping, reading a clock or waiting for a descriptor: an endless loop, or "
                "one that watches memory. Virtual time moves only when every thread waits."
            ) from None

    def go_on(self) -> None:
        """Let the program run with the state that is now in `sensors`."""
        with suppress(ConnectionError):
            self._socket.send(b"x")

    def joint_arrays(self, joints: int) -> dict[str, Float]:
        """The torques, the torques asked for, and the ages of commands and samples, each (joints,)."""
        names = ("torques", "asked", "command_age", "sample_age", "max_gap")
        return {name: np.array(getattr(self.page, name)[:joints]) for name in names}

    def send_host(self, data: bytes) -> None:
        """Bytes for the program's serial port, which it can read after this step."""
        count = self.page.host_in_count
        data = data[: len(self.page.host_in) - count]
        self.page.host_in[count : count + len(data)] = list(data)
        self.page.host_in_count = count + len(data)

    def take_host(self) -> bytes:
        """The bytes that the program wrote to its serial port during the last step."""
        return bytes(self.page.host_out[: self.page.host_out_count])

    def trace(self) -> np.ndarray:
        """The events in the ring, oldest first."""
        count, ring = int(self.page.trace_count), self._ring
        if ring is None or count <= len(ring):
            return np.zeros(0, TRACE) if ring is None else ring[:count].copy()
        return np.roll(ring, -(count % len(ring)))

    @property
    def refused(self) -> str:
        """The first thing that the program asked for and the shim does not have; empty if there was none."""
        return self.page.said.decode(errors="replace")

    def output(self, last: int = 65536) -> str:
        """The end of what the program printed, to both of its streams."""
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - last))
        return self._said.read().decode(errors="replace")

    def finish(self) -> int:
        """End the program, if it still runs; returns its exit code (negative: the signal that ended it)."""
        self._socket.close()
        try:
            return self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def __enter__(self) -> Self:
        """The shim itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the program."""
        self.finish()
        self._said.close()


MACHINES = {"x86_64": 62, "aarch64": 183}


def check_no_script(path: Path) -> None:
    """Refuse what the system would run by an interpreter, or not at all."""
    try:
        with open_regular(path, limit=1 << 32, follow=True) as file:
            magic = file.read(4)
    except OSError as e:
        raise Problem(f"cannot read the program {path}: {e.strerror}") from None
    if magic != b"\x7fELF":
        raise Problem(
            f"{path} is not an ELF program: give the program itself, or the interpreter of a script, as in "
            f"/usr/bin/python3 --arguments {path.name}"
        )


def check_program(path: Path) -> Path:
    """The program's absolute path, if a preloaded library can work in it; a Problem that says why not otherwise."""
    check_no_script(path)
    try:
        with path.open("rb") as file:
            head = file.read(64)
            size = struct.unpack_from("<HH", head, 54) if len(head) == 64 else (0, 0)
            file.seek(struct.unpack_from("<Q", head, 32)[0] if len(head) == 64 else 0)
            table = file.read(min(size[0] * size[1], 1 << 16))
    except (OSError, OverflowError, ValueError) as e:
        raise Problem(f"cannot read the program {path}: {e}") from None
    machine = os.uname().machine
    if len(head) < 64 or head[4] != 2 or head[5] != 1 or struct.unpack_from("<H", head, 18)[0] != MACHINES.get(machine):
        raise Problem(f"{path} is not a 64-bit program for {machine}, this computer: compile it here")
    kinds = [struct.unpack_from("<I", table, at)[0] for at in range(0, len(table) - size[0] + 1, size[0] or 1)]
    if 3 not in kinds:  # PT_INTERP
        raise Problem(
            f"{path} is statically linked, so that no library can stand between it and the system: "
            "link it dynamically (without -static)"
        )
    mode = path.stat().st_mode
    if not os.access(path, os.X_OK):
        raise Problem(f"{path} is not executable: chmod +x it")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise Problem(f"{path} is set-user-id, for which the system ignores LD_PRELOAD: run a copy without that bit")
    return path.resolve()
