"""ROS masters and stand-in robots as processes that end with whoever started them."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import IO

from isthmus.core import Problem
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import master_answers, publishers, require_ros
from isthmus.hardware.ros1.messages import JOINT_STATES

STAND_IN = "isthmus.robots.fetch.standin"
PATIENCE = 30.0
"""Seconds in which a process must be up."""
GRACE = 5.0
"""Seconds that a process is given to end by itself."""
PR_SET_PDEATHSIG = 1
TIDY = """trap 'kill $!; wait; rm -rf "$0"; exit' TERM; "$@" & wait $!"""
"""Runs a command, and removes the folder $0 when it is asked to end: whoever made that may have been killed."""


@contextmanager
def ros_master(address: Address) -> Generator[None]:
    """A roscore at `address`, unless one is there already."""
    require_ros()
    if master_answers(address):
        yield
        return
    if not address.local:
        raise Problem(f"there is no ROS master at {address}, and one can be started on this machine only")
    with tempfile.TemporaryDirectory(prefix="isthmus-ros-", ignore_cleanup_errors=True) as home:
        # Its output and logs are nobody's; a user who wants them runs roscore.
        environment = {"ROS_HOME": home, "ROS_LOG_DIR": home, "ROS_MASTER_URI": address.uri, "ROS_IP": "127.0.0.1"}
        command = ["sh", "-c", TIDY, home, "roscore", "-p", str(address.port)]
        with _running(command, environment, lambda: master_answers(address), "roscore"):
            yield


@contextmanager
def stand_in(
    address: Address, *, robot: str = "first", speed: float = 1.0, seed: int = 0, options: Sequence[str] = ()
) -> Generator["subprocess.Popen[bytes]"]:
    """A stand-in robot on the graph at `address`; its own process, whose inside nobody gets to see."""
    if already := publishers(address, JOINT_STATES):
        raise Problem(f"there is a robot at {address} already ({', '.join(sorted(already))}): end it first")
    command = [sys.executable, "-P", "-m", STAND_IN, "--address", str(address), "--robot", robot]
    command += ["--speed", str(speed), "--seed", str(seed), *options]
    with _running(command, {}, lambda: bool(publishers(address, JOINT_STATES)), "the stand-in robot") as process:
        yield process


@contextmanager
def robot_up(
    *, robot: str = "first", speed: float = 1.0, seed: int = 0, options: Sequence[str] = ()
) -> Generator[Address]:
    """A master on a free port of this machine, and a stand-in robot on its graph."""
    address = Address(port=free_port())
    with ros_master(address), stand_in(address, robot=robot, speed=speed, seed=seed, options=options):
        yield address


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], is_up: Callable[[], bool], name: str
) -> Generator["subprocess.Popen[bytes]"]:
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - it only calls prctl
        )
        try:
            _await(process, is_up, name, words)
            yield process
        finally:
            _end(process)


def _await(process: "subprocess.Popen[bytes]", is_up: Callable[[], bool], name: str, words: IO[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_up():
        if process.poll() is not None:
            words.seek(0)
            said = words.read().decode(errors="replace").strip().splitlines()
            raise Problem(f"{name} ended at once: {said[-1] if said else f'exit code {process.returncode}'}")
        if time.monotonic() > end:
            raise Problem(f"{name} is not up after {PATIENCE:g} s")
        time.sleep(0.05)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ask the process and its children to end, then see to it."""
    for wanted in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, wanted)
            process.wait(GRACE)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait(GRACE)


def _end_with_parent() -> None:
    """Have the kernel end this process when its parent dies: no robot is left behind by a killed study."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
