"""Devices by their registers and frames, without a processor."""

import ctypes as c
from pathlib import Path

import numpy as np
import pytest

from isthmus.firmware.board import load_board
from isthmus.firmware.rig import CanFrame, Kind, Rig

HERE = Path(__file__).parent

MS = 1_000_000


@pytest.fixture
def rig():
    made = Rig(load_board(HERE / "console.toml"))
    made.keep_trace(4096)
    made.reset(0)
    yield made
    made.close()


def sense(rig: Rig, q=(0.3, -0.4), qd=(1.0, 2.0), gyro=(0, 0, 0), accel=(0, 0, 9.81)) -> None:
    arrays = [np.array(values, float) for values in (q, qd, gyro, accel)]
    rig.library.fw_rig_sense(rig.pointer, *[array.ctypes.data for array in arrays])


def transfer(rig: Rig, write: bytes, count: int = 0, address: int = 0x6A) -> bytes | None:
    out = c.create_string_buffer(max(count, 1))
    failed = rig.library.fw_i2c_transfer(rig.pointer, rig.buses["i2c1"], address, write, len(write), out, count)
    return None if failed else out.raw[:count]


def later(rig: Rig, ms: float) -> None:
    rig.library.fw_rig_advance(rig.pointer, rig.library.fw_rig_now(rig.pointer) + round(ms * MS))


def readings(rig: Rig) -> np.ndarray:
    return np.frombuffer(transfer(rig, b"\x22", 12), "<i2").astype(float)


def test_ranges_scale_and_saturate(rig):
    sense(rig, gyro=(1.0, -2.0, 9.0), accel=(3.0, -4.0, 50.0))
    transfer(rig, b"\x10\x68\x68")  # 417 Hz, 4 g, 1000 degrees a second
    later(rig, 5)
    raw = readings(rig)
    np.testing.assert_allclose(raw[:2] * 35e-3, np.degrees([1, -2]), atol=0.02)
    np.testing.assert_allclose(raw[3:5] * 0.122e-3 * 9.80665, [3, -4], atol=1e-3)
    assert raw[5] == 32767  # 50 m/s^2 is past 4 g
    transfer(rig, b"\x10\x64\x62")  # 16 g; 125 degrees a second
    later(rig, 5)
    raw = readings(rig)
    np.testing.assert_allclose(raw[5] * 0.488e-3 * 9.80665, 50, atol=5e-3)
    assert raw[2] == 32767
    np.testing.assert_allclose(raw[0] * 4.375e-3, np.degrees(1), atol=0.01)


def test_data_ready_is_cleared_by_reading(rig):
    transfer(rig, b"\x10\x60\x60")
    later(rig, 5)
    assert transfer(rig, b"\x1e", 1) == b"\x07"
    transfer(rig, b"\x28", 6)
    assert transfer(rig, b"\x1e", 1) == b"\x06"
    transfer(rig, b"\x22", 6)
    assert transfer(rig, b"\x1e", 1) == b"\x04"


def test_fifo_keeps_tagged_words_in_order(rig):
    sense(rig, gyro=(0.5, 0, 0))
    transfer(rig, b"\x12\x04")
    transfer(rig, b"\x09\x66\x06")  # batch both at 417 Hz, continuous
    transfer(rig, b"\x10\x60\x60")
    later(rig, 12)
    count = transfer(rig, b"\x3a", 1)[0]
    assert count == 10  # five samples of two sensors
    words = np.frombuffer(transfer(rig, b"\x78", 7 * count), np.uint8).reshape(count, 7)
    assert [tag >> 3 for tag in words[:, 0]] == [1, 2] * 5
    assert all(bin(int(tag)).count("1") % 2 == 0 for tag in words[:, 0])
    assert transfer(rig, b"\x3a", 1)[0] == 0


def test_software_reset_and_wrong_addresses(rig):
    transfer(rig, b"\x10\x60")
    assert transfer(rig, b"\x10", 1) == b"\x60"
    transfer(rig, b"\x12\x01")
    assert transfer(rig, b"\x10", 3) == b"\x00\x00\x04"
    assert transfer(rig, b"\x0f", 1, address=0x42) is None
    rig.set("imu.dead_from", 0.0)
    assert transfer(rig, b"\x0f", 1) is None


def test_noise_and_bias_have_the_spread_that_was_asked_for(rig):
    rig.set("imu.gyro_noise", 0.01)
    rig.set("imu.gyro_bias_y", 0.2)
    transfer(rig, b"\x10\x90\x98")  # 3333 Hz
    seen = []
    for _ in range(600):
        later(rig, 0.31)
        seen.append(np.radians(readings(rig)[:3] * 35e-3))
    assert np.std(seen, axis=0) == pytest.approx([0.01] * 3, rel=0.12)
    assert np.mean(seen, axis=0) == pytest.approx([0, 0.2, 0], abs=2e-3)


def command(position=0.0, velocity=0.0, kp=0.0, kd=0.0, torque=0.0, number=1) -> CanFrame:
    def code(x: float, low: float, high: float, bits: int) -> int:
        return round((x - low) / (high - low) * (2**bits - 1))

    p, v = code(position, -12.5, 12.5, 16), code(velocity, -45, 45, 12)
    gp, gd, t = code(kp, 0, 500, 12), code(kd, 0, 5, 12), code(torque, -33, 33, 12)
    data = (p << 48) | (v << 36) | (gp << 24) | (gd << 12) | t
    return CanFrame(number, 0, 0, 8, 0, (c.c_uint8 * 8)(*data.to_bytes(8, "big")))


def ask(rig: Rig, frame: CanFrame, ms: float = 1.0) -> list[tuple[CanFrame, float]]:
    port = rig.__dict__.setdefault("port", rig.library.fw_can_port(rig.pointer, rig.buses["can1"]))
    assert rig.library.fw_can_send(rig.pointer, port, c.byref(frame)) == 0
    later(rig, ms)
    found, one, at = [], CanFrame(), c.c_int64()
    while rig.library.fw_can_recv(rig.pointer, port, c.byref(one), c.byref(at)):
        found.append((CanFrame.from_buffer_copy(one), at.value / MS))
    return found


def test_a_motor_exerts_what_its_command_says_and_answers(rig):
    sense(rig)
    ((reply, at),) = ask(rig, command(position=0.5, velocity=3.0, kp=20, kd=0.5, torque=1.5))
    expected = 20 * (0.5 - 0.3) + 0.5 * (3.0 - 1.0) + 1.5
    assert rig.torques()[0] == pytest.approx(expected, abs=0.05)
    assert (reply.id, reply.dlc, reply.data[0]) == (0x41, 6, 1)
    position = int.from_bytes(bytes(reply.data[1:3]), "big") * 25 / 65535 - 12.5
    assert position == pytest.approx(0.3 + 1.0 * 0.12e-3, abs=5e-4)
    assert at == pytest.approx(0.121 + 0.4 + 0.104, abs=0.01)  # the command's frame, the wait, the reply's frame


def test_strength_limit_and_silence(rig):
    sense(rig, qd=(0, 0))
    rig.set("one.strength", 0.8)
    ask(rig, command(torque=10))
    assert rig.torques()[0] == pytest.approx(8, abs=0.02)
    rig.set("one.torque_limit", 5)
    assert rig.torques()[0] == pytest.approx(5)
    rig.set("one.silent_from", 0)
    assert ask(rig, command(torque=-10)) == []
    assert rig.torques()[0] == pytest.approx(5)


def test_frames_are_lost_corrupted_and_held_back_as_often_as_asked(rig):
    rig.set("can1.loss", 0.3)
    answered = sum(bool(ask(rig, command(), 2.0)) for _ in range(400)) / 400
    assert answered == pytest.approx(0.7**2, abs=0.08)
    rig.set("can1.loss", 0)
    rig.set("can1.delay_ms", 0.5)
    ((_, at),) = ask(rig, command(), 3.0)
    start = rig.seconds * 1e3 - 3.0
    assert at - start == pytest.approx(0.625 + 2 * 0.5, abs=0.02)


def test_the_lower_identifier_wins_the_bus(rig):
    port = rig.library.fw_can_port(rig.pointer, rig.buses["can1"])
    other = rig.library.fw_can_port(rig.pointer, rig.buses["can1"])
    for sender, number in ((port, 0x300), (port, 0x200), (other, 0x100)):
        rig.library.fw_can_send(rig.pointer, sender, c.byref(CanFrame(number, 0, 0, 0, 0, (c.c_uint8 * 8)())))
    later(rig, 1)
    events = rig.trace()
    order = [int(e["a"]) & 0xFFFFFFFF for e in events if e["kind"] == Kind.CAN_FRAME]
    assert order == [0x300, 0x100, 0x200]  # the first found the bus idle; a port sends in its own order
