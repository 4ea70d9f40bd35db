"""Packets say what they said, and anything else that comes to a port is no packet."""

import numpy as np
import pytest

from isthmus.core import Problem, stream
from isthmus.hardware.udp import UdpAddress
from isthmus.hardware.udp.wire import HEADER, MOST, Packet, joints_crc, packed, unpacked

JOINTS = ("shoulder", "elbow")
COMMAND = Packet("command", "effort", joints_crc(JOINTS), 2, 7, 12.5, np.array([0.02, 1.5, -3.0]))


@pytest.mark.parametrize(
    "packet",
    [
        COMMAND,
        Packet("reading", "position", joints_crc(JOINTS), 2, 2**32 - 1, 1.7e9, np.array([1.0, 2.0, np.nan, 4.0])),
        Packet("hold", "effort", joints_crc(JOINTS), 2, 0, -1.0, np.empty(0)),
    ],
)
def test_a_packet_is_read_as_it_was_written(packet):
    read = unpacked(packed(packet))
    assert read is not None
    np.testing.assert_array_equal(read.values, packet.values)
    assert vars(read) | {"values": None} == vars(packet) | {"values": None}


def test_the_layout_is_the_documented_one():
    data = packed(COMMAND)
    assert data[:8] == b"ISTH\x01\x03\x01\x02"
    assert len(data) == 24 + 3 * 8
    assert np.frombuffer(data, "<f8", offset=16).tolist() == [12.5, 0.02, 1.5, -3.0]


def test_joints_in_another_order_are_others():
    assert joints_crc(JOINTS) != joints_crc(JOINTS[::-1])


def test_what_is_no_packet_is_none():
    data = packed(COMMAND)
    for size in range(len(data)):
        assert unpacked(data[:size]) is None
    assert unpacked(data + b"\0") is None
    assert unpacked(bytes(MOST + 1)) is None
    rng = stream(0, "packets")
    for _ in range(2000):
        broken = bytearray(data)
        broken[rng.integers(HEADER.size - 8)] ^= 1 << rng.integers(8)
        read = unpacked(bytes(broken))
        assert read is None or read != COMMAND


@pytest.mark.parametrize("text", ["udp://", "udp://:1", "udp://a:99999", "udp://a:0", "udp://a/b", "http://a:1"])
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(Problem, match="udp://"):
        UdpAddress.parse(text)


def test_an_address_is_parsed_and_printed():
    assert str(UdpAddress.parse("udp://10.0.0.5")) == "udp://10.0.0.5:9870"
