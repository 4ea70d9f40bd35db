"""Programs that drive peripherals as a vendor's library does, and print what they saw."""

from pathlib import Path

from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop

HERE = Path(__file__).parent


def test_i2c_polling_reads_any_number_of_bytes(console):
    lines = console("i2c_polling").splitlines()
    assert lines[0].split() == ["0", "108", "238", "238", "238", "238"]
    assert lines[1].split() == ["0", "108", "0", "238", "238", "238"]
    assert lines[2].split() == ["0", "108", "0", "0", "238", "238"]
    assert lines[3].split() == ["0", "108", "0", "0", "4", "238"]
    nobody, status, down, read = lines[4].split()[:4]
    assert (nobody, read) == ("1", "6")  # not acknowledged; reading clears the accelerometer's bit only
    assert int(status) == 7
    assert abs(int(down) - 9.81 / 9.80665 / 0.122e-3) < 2


def test_can_filters_loop_back_overruns_and_goes_bus_off(console):
    loop_back, bus, off = console("can_polling").splitlines()
    assert loop_back.split() == ["1", "0", "291", "4", "1", "7", "27", "2", "256"]
    assert bus.split()[:3] == ["66", "6", "65"]  # asked first, answered first, in six bytes
    assert int(bus.split()[3]) == 0x303  # both requests complete and sent
    assert off.split() == ["7", "off"]  # warning, passive, off


def test_interrupts_nest_by_priority_and_a_reset_starts_again(console):
    first, second, *_ = console("interrupts", 0.1).splitlines()
    assert first.split() == ["0", "1", "1", "1", "15", "1", "16", "1", "0"]
    assert second.split()[0] == "1"


def test_systick_keeps_its_value_when_stopped_and_takes_a_reload_when_it_is_due(console):
    assert console("tickless").split() == ["1"] * 7


SECOND = """
[peripheral.can2]
type = "bxcan"
at = 0x40006800
filters = "can1"

[device.three]
type = "mit-motor"
on = "can2"
id = 3
"""


def test_two_can_controllers_share_filters(program, tmp_path):
    (tmp_path / "two.toml").write_text((HERE / "console.toml").read_text() + SECOND)
    with Loop(load_board(tmp_path / "two.toml"), read_elf(program("second_can"))) as loop:
        loop.reset(0)
        loop.run(0.05)
        assert loop.link.text.split() == ["1", "65", "1", "67"]
