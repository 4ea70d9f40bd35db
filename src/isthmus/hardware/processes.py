"""Processes that end with whoever started them: stand-in robots, ROS masters."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import IO, Literal

from isthmus.core import Problem, unknown_name
from isthmus.hardware.address import RobotAddress, require_dds
from isthmus.hardware.ros1.address import Address
from isthmus.hardware.ros1.bindings import master_answers, publishers, require_ros
from isthmus.hardware.ros1.messages import JOINT_STATES
from isthmus.hardware.ros2.address import Ros2Address
from isthmus.hardware.udp.address import UdpAddress

STAND_IN = "isthmus.robots.fetch.standin"
OTHERS = "isthmus.robots.standin"
Transport = Literal["ros1", "ros2", "udp"]
"""By what a stand-in is reached."""
PATIENCE = 30.0
"""Seconds in which a process must be up."""
GRACE = 5.0
"""Seconds that a process is given to end by itself."""
DISCOVERY = 0.5
"""Seconds in which robots that are in a ROS 2 domain already are found."""
FORGOTTEN = 4.5
"""Seconds after which a robot of this machine that was killed is no longer seen in its domain."""
PRIVATE = range(10, 100)
"""ROS 2 domains of which one is taken for a robot of our own, on this machine alone."""
PR_SET_PDEATHSIG = 1
TIDY = """trap 'kill $!; wait; rm -rf "$0"; exit' TERM; "$@" & wait $!"""
"""Runs a command, and removes the folder $0 when it is asked to end: whoever made that may have been killed."""


@contextmanager
def ros_master(address: RobotAddress) -> Generator[None]:
    """A roscore at `address`, unless one is there already; nothing where a robot needs no master."""
    if not isinstance(address, Address):
        yield
        return
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
        with running(command, environment, lambda: master_answers(address), "roscore"):
            yield


@contextmanager
def stand_in(
    address: RobotAddress,
    *,
    robot: str = "first",
    speed: float = 1.0,
    seed: int = 0,
    options: Sequence[str] = (),
) -> Generator["subprocess.Popen[bytes]"]:
    """A stand-in Fetch at `address`; its own process, whose inside nobody gets to see."""
    command = [sys.executable, "-P", "-m", STAND_IN, "--address", str(address), "--robot", robot]
    command += ["--speed", str(speed), "--seed", str(seed), *options]
    with robot_process(address, command) as process:
        yield process


@contextmanager
def other_stand_in(
    address: RobotAddress, task: str, *, gap: str = "none", seed: int = 0, options: Sequence[str] = ()
) -> Generator["subprocess.Popen[bytes]"]:
    """A stand-in at `address` for the robot of any task that declares its real one."""
    command = [sys.executable, "-P", "-m", OTHERS, task, "--address", str(address), "--gap", gap, "--seed", str(seed)]
    with robot_process(address, [*command, *options]) as process:
        yield process


@contextmanager
def robot_process(address: RobotAddress, command: list[str]) -> Generator["subprocess.Popen[bytes]"]:
    """A process that is a robot at `address`, and no second one there."""
    present = presence(address)
    began, over_dds = time.monotonic(), isinstance(address, Ros2Address)
    while not (already := present()) and over_dds and time.monotonic() < began + DISCOVERY:
        time.sleep(0.02)
    while already and over_dds and time.monotonic() < began + FORGOTTEN:  # it may have been killed a moment ago
        time.sleep(0.05)
        already = present()
    if already:
        raise Problem(f"there is a robot at {address} already ({already}): end it first")
    with running(command, {}, lambda: bool(present()), "the stand-in robot") as process:
        yield process


@contextmanager
def robot_up(
    transport: Transport = "ros1",
    *,
    robot: str = "first",
    speed: float = 1.0,
    seed: int = 0,
    options: Sequence[str] = (),
) -> Generator[RobotAddress]:
    """A stand-in robot that nobody else on this machine meets, and a ROS master where it needs one."""
    address = free_address(transport)
    with ros_master(address), stand_in(address, robot=robot, speed=speed, seed=seed, options=options):
        yield address


def presence(address: RobotAddress) -> Callable[[], str]:
    """Asks who is a robot at `address`; an empty text while nobody is."""
    if isinstance(address, Ros2Address):
        require_dds()
        from isthmus.hardware.ros2.bus import Bus  # noqa: PLC0415 - DDS only where it is used
        from isthmus.hardware.ros2.messages import JointState  # noqa: PLC0415

        heard = Bus(address).subscribe(address.joint_states, JointState)
        return lambda: f"{heard.publishers} publish {address.joint_states}" if heard.publishers else ""
    if isinstance(address, UdpAddress):
        return lambda: "" if _is_free(address) else "something listens there"
    return lambda: ", ".join(sorted(publishers(address, JOINT_STATES)))


def free_address(transport: str) -> RobotAddress:
    """An address of this machine where nobody is."""
    if transport == "ros1":
        return Address(port=free_port())
    if transport == "udp":
        return UdpAddress(port=free_port(socket.SOCK_DGRAM))
    if transport != "ros2":
        raise unknown_name("transport", transport, ("ros1", "ros2", "udp"))
    for domain in random.SystemRandom().sample(PRIVATE, len(PRIVATE)):
        # The port on which the first participant of a domain is found.
        if _is_free(UdpAddress(port=7410 + 250 * domain)):
            return Ros2Address(domain, "127.0.0.1")
    raise Problem(f"every ROS 2 domain from {PRIVATE.start} to {PRIVATE.stop - 1} is in use on this machine")


def free_port(kind: socket.SocketKind = socket.SOCK_STREAM) -> int:
    """A port that nobody listens on."""
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(address: UdpAddress) -> bool:
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address.host, address.port))
        except OSError:
            return False
    return True


@contextmanager
def running(
    command: list[str], environment: dict[str, str], is_up: Callable[[], bool], name: str
) -> Generator["subprocess.Popen[bytes]"]:
    """A process, once it is up; it ends with this context, and with this process however that ends."""
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
