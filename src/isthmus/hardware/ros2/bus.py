"""The only door to Cyclone DDS: topics of one ROS 2 domain, named and configured as ROS 2 does it."""

import ipaddress
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from cyclonedds.core import DDSException, InstanceState, Policy, Qos, ReadCondition, SampleState, ViewState, WaitSet
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

from isthmus.core import Problem
from isthmus.hardware.ros2.address import Ros2Address

Kind = TypeVar("Kind", bound=IdlStruct)
ANY = SampleState.Any | ViewState.Any | InstanceState.Any
DEPTH = 50
"""Messages that are kept for a reader who is late."""
BLOCKING = 0.02
"""Seconds that a write may wait for its reader: a robot that is slow must not keep the control loop."""
LEASE = 3.0
"""Seconds after which a process on this machine that was killed is forgotten by the others."""
LOOK = 0.02
"""Seconds between two looks at who is there."""


def mangled(topic: str) -> str:
    """A topic's name in DDS."""
    return "rt" + topic


class Publisher(Generic[Kind]):
    """Sends messages of one kind, in the order in which they are given."""

    def __init__(self, writer: "DataWriter[Kind]") -> None:
        """Send by `writer`."""
        self._writer: DataWriter[Kind] | None = writer

    @property
    def listeners(self) -> int:
        """How many are known to listen."""
        return 0 if self._writer is None else len(self._writer.get_matched_subscriptions())

    def send(self, message: Kind) -> None:
        """Send a message; one that cannot be sent in time is lost, and so it is with a network that is gone."""
        if self._writer is not None:
            self._writer.write(message)

    def close(self) -> None:
        """Leave the topic."""
        self._writer = None  # which ends it


class Subscription(Generic[Kind]):
    """Takes messages of one kind."""

    def __init__(self, reader: "DataReader[Kind]", kind: type[Kind]) -> None:
        """Take what `reader` has."""
        self._reader: DataReader[Kind] | None = reader
        self._kind = kind
        self.condition = ReadCondition(reader, ANY)
        """Holds when there is something to take."""

    @property
    def publishers(self) -> int:
        """How many are known to publish."""
        return 0 if self._reader is None else len(self._reader.get_matched_publications())

    def take(self) -> list[Kind]:
        """What came since the last time, oldest first."""
        if self._reader is None:
            return []
        # A publisher that leaves is told of by samples that are no messages.
        return [message for message in self._reader.take(DEPTH) if isinstance(message, self._kind)]

    def close(self) -> None:
        """Leave the topic."""
        self._reader = None
        del self.condition


class Bus:
    """This process in a ROS 2 domain."""

    def __init__(self, address: Ros2Address) -> None:
        """Join the domain; nobody is disturbed by it."""
        self._participant = _joined(address)

    def publish(self, topic: str, kind: type[Kind], *, depth: int = 10) -> Publisher[Kind]:
        """Publish as ROS 2 does by default: reliably, the last messages, nothing for those who come later."""
        qos = _qos(depth, reliable=True)
        return Publisher(DataWriter(self._participant, self._topic(topic, kind), qos=qos))

    def subscribe(self, topic: str, kind: type[Kind], *, reliable: bool = False) -> Subscription[Kind]:
        """Subscribe; unless `reliable`, as ROS 2 does to sensors, which fits publishers of both kinds."""
        qos = _qos(DEPTH, reliable=reliable)
        return Subscription(DataReader(self._participant, self._topic(topic, kind), qos=qos), kind)

    def waiter(self, subscriptions: Sequence[Subscription[Any]]) -> Callable[[float], bool]:
        """Waits until one of the subscriptions has something to take, for so many seconds; whether it has."""
        waitset = WaitSet(self._participant)
        for one in subscriptions:
            waitset.attach(one.condition)
        return lambda patience: waitset.wait(duration(seconds=max(patience, 1e-6))) > 0

    def _topic(self, topic: str, kind: type[Kind]) -> "Topic[Kind]":
        return Topic(self._participant, mangled(topic), kind)


def _qos(depth: int, *, reliable: bool) -> Qos:
    """As ROS 2 has it: the last messages, nothing for those who come later, and CDR in the first version."""
    policy: Any = Policy
    return Qos(
        policy.Reliability.Reliable(duration(seconds=BLOCKING)) if reliable else policy.Reliability.BestEffort,
        policy.History.KeepLast(depth),
        policy.Durability.Volatile,
        policy.DataRepresentation(use_cdrv0_representation=True),
    )


def found(count: Callable[[], int], patience: float) -> bool:
    """Wait until somebody is there; False when nobody has come after so many seconds."""
    end = time.monotonic() + patience
    while not count():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK)
    return True


_lock = threading.Lock()
_domains: dict[int, tuple[str, Domain | None, DomainParticipant]] = {}


def _joined(address: Ros2Address) -> DomainParticipant:
    """One participant for each domain and process: DDS configures a domain once."""
    with _lock:
        if address.domain not in _domains:
            try:
                domain = Domain(address.domain, _configuration(address)) if address.interface else None
                _domains[address.domain] = (address.interface, domain, DomainParticipant(address.domain))
            except DDSException as error:
                where = f" on {address.interface}" if address.interface else ""
                raise Problem(f"ROS 2 domain {address.domain} cannot be joined{where}: {error}") from error
        interface, _, participant = _domains[address.domain]
    if interface != address.interface:
        raise Problem(
            f"this process is in ROS 2 domain {address.domain} on {interface or 'the default interface'} already, "
            f"and cannot be in it on {address.interface or 'the default interface'} too"
        )
    return participant


def _configuration(address: Ros2Address) -> str:
    """For one interface; on this machine alone, processes find each other without multicast."""
    host = "127.0.0.1" if address.local else address.interface
    key = "address" if _is_ip(host) else "name"
    general = f'<Interfaces><NetworkInterface {key}="{host}"/></Interfaces>'
    discovery = ""
    if address.local:
        general += "<AllowMulticast>false</AllowMulticast>"
        discovery = (
            f"<Discovery><LeaseDuration>{LEASE:g} s</LeaseDuration>"
            "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>"
            '<Peers><Peer address="127.0.0.1"/></Peers></Discovery>'
        )
    return f'<CycloneDDS><Domain Id="any"><General>{general}</General>{discovery}</Domain></CycloneDDS>'


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
