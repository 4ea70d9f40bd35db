"""The only door to rospy, which has no types and may be missing.

ROS comes from the system's packages, not from pip. Debian's Python is looked at by path, after everything else: an
environment of the same Python version can use it.
"""

import os
import queue
import shutil
import sys
import tempfile
import xmlrpc.client
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from http.client import HTTPException
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isthmus.core import Problem
from isthmus.hardware.ros1.address import Address

SYSTEM = Path("/usr/lib/python3/dist-packages")
PATIENCE = 2.0
"""Seconds that a master may take to answer."""
ADVICE = "install ROS 1 (on Debian: apt-get install ros-core), or run `make env` as root"
Callback = Callable[[Any], None]


def find_ros() -> str:
    """An empty text where ROS can be used, else what is missing."""
    if find_spec("rospy") is None and (SYSTEM / "rospy").is_dir() and str(SYSTEM) not in sys.path:
        sys.path.append(str(SYSTEM))  # last, so that nothing of the environment is replaced
    if find_spec("rospy") is None:
        return f"Python {sys.version_info[0]}.{sys.version_info[1]} finds no rospy: {ADVICE}"
    if shutil.which("roscore") is None:
        return f"there is no roscore: {ADVICE}"
    return ""


def require_ros() -> None:
    """Refuse to go on without ROS."""
    missing = find_ros()
    if missing:
        raise Problem(f"ROS is needed to talk to a robot, but {missing}")


def master_answers(address: Address) -> bool:
    """Whether a master is there."""
    return _answers(address.uri)


def parameter(address: Address, name: str) -> Any:  # noqa: ANN401 - it may be anything
    """A parameter of the graph; None where it is not set."""
    try:
        with _server(address.uri) as master:
            answer: Any = master.getParam("/isthmus", name)
    except (OSError, xmlrpc.client.Error, HTTPException) as error:
        raise Problem(f"the ROS master at {address} does not answer ({error})") from error
    return answer[2] if answer[0] == 1 else None


def publishers(address: Address, topic: str) -> set[str]:
    """The nodes that publish a topic; those that were killed are still in the master's books, but do not answer."""
    try:
        with _server(address.uri) as master:
            state: Any = master.getSystemState("/isthmus")
            known = {node for name, nodes in state[2][0] if name == topic for node in nodes}
            homes: dict[str, Any] = {node: master.lookupNode("/isthmus", node) for node in known}
    except (OSError, xmlrpc.client.Error, HTTPException):
        return set()
    return {node for node, answer in homes.items() if answer[0] == 1 and _answers(answer[2])}


def set_parameter(address: Address, name: str, value: object) -> None:
    """Set a parameter of the graph."""
    with _server(address.uri) as master:
        master.setParam("/isthmus", name, value)  # pyright: ignore[reportArgumentType]


def require_master(address: Address) -> None:
    """Refuse to go on without ROS and a master."""
    require_ros()
    if not master_answers(address):
        raise Problem(
            f"there is no ROS master at {address}: start the robot, or a stand-in with `isthmus robot up fetch`"
        )


class Graph:
    """This process as a node; rospy allows one in a process, and one master."""

    def __init__(self, address: Address, name: str) -> None:
        """Join the graph of the master at `address`."""
        require_master(address)
        self._rospy = _joined(address, name)

    def publish(self, topic: str, kind: type, *, latch: bool = False) -> Any:  # noqa: ANN401
        """A publisher, with `publish(message)` and `unregister()`."""
        return self._rospy.Publisher(topic, kind, queue_size=10, tcp_nodelay=True, latch=latch)

    def subscribe(self, topic: str, kind: type, callback: Callback) -> Any:  # noqa: ANN401
        """A subscription, with `unregister()`; `callback` is called in a thread of its own."""
        return self._rospy.Subscriber(topic, kind, callback, queue_size=50, tcp_nodelay=True)

    def hear(self, topic: str, kind: type, patience: float) -> Any:  # noqa: ANN401
        """The next message on a topic, or the one that is kept for newcomers; None when none comes in time."""
        heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        listening = self.subscribe(topic, kind, heard.put)
        try:
            return heard.get(timeout=patience)
        except queue.Empty:
            return None
        finally:
            listening.unregister()


_node: tuple[Address, Any] | None = None


def _joined(address: Address, name: str) -> Any:  # noqa: ANN401
    global _node  # noqa: PLW0603 - rospy keeps one node a process in globals of its own
    if _node is None:
        os.environ["ROS_MASTER_URI"] = address.uri
        if address.local:
            os.environ.setdefault("ROS_IP", "127.0.0.1")
        with _nobodys_logs():
            rospy = import_module("rospy")
            # Time and signals are handled here: a stand-in may have a clock of its own, and Ctrl-C is the user's.
            rospy.init_node(name, anonymous=True, disable_rostime=True, disable_rosout=True, disable_signals=True)
        _node = (address, rospy)
    if _node[0] != address:
        raise Problem(f"this process is already on the graph of {_node[0]}, and can be on one only")
    return _node[1]


@contextmanager
def _nobodys_logs() -> Generator[None]:
    """Have rospy open its log in a folder that is removed at once: the open file goes with the process."""
    if "ROS_LOG_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="isthmus-ros-", ignore_cleanup_errors=True) as folder:
        os.environ["ROS_LOG_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["ROS_LOG_DIR"]


def _answers(uri: str) -> bool:
    try:
        with _server(uri) as server:
            answer: Any = server.getPid("/isthmus")
        return bool(answer[0] == 1)
    except (OSError, xmlrpc.client.Error, HTTPException):
        return False


def _server(uri: str) -> xmlrpc.client.ServerProxy:
    return xmlrpc.client.ServerProxy(uri, transport=_Impatient())


class _Impatient(xmlrpc.client.Transport):
    def make_connection(self, host: Any) -> Any:  # noqa: ANN401
        connection = super().make_connection(host)
        connection.timeout = PATIENCE
        return connection


@cache
def message(name: str) -> type:
    """The class of a message type, as in sensor_msgs/JointState."""
    require_ros()
    package, _, kind = name.partition("/")
    return getattr(import_module(f"{package}.msg"), kind)
