"""The reference firmware in the loop with its robot."""

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop, run_loops
from isthmus.firmware.motions import MOTIONS
from isthmus.firmware.reference import build_reference
from isthmus.firmware.rig import Kind
from isthmus.firmware.robot import FOLDER


@pytest.fixture
def make(program):  # skips without the compiler

    def loop(robot: str = "leg", bugs: tuple[str, ...] = (), **options) -> Loop:
        return Loop(load_board(FOLDER / f"{robot}.toml"), read_elf(build_reference(bugs, robot)), **options)

    return loop


def test_the_quadruped_squats_under_pushes(make):
    with make("quadruped") as loop:
        loop.reset(3)
        record = loop.play(MOTIONS["squat"], 1.5, 3)
        counters = loop.counters
    assert record.qpos[500:, 2].min() > 0.24
    assert np.ptp(record.qpos[600:, 2]) > 0.01
    assert counters.watchdog_resets == counters.resets == 0
    assert record.telemetry_estop[-1] == 0
    assert np.nanmax(record.command_age[300:]) < 3e-3
    assert np.abs(record.torque).max() < 23


def test_same_seed_same_trace_byte_for_byte(make):
    def trace(seed: int) -> bytes:
        with make(trace=1 << 16) as loop:
            loop.faults({"can*.loss": 0.02, "i2c1.nack": 0.02})
            loop.reset(1)
            loop.run(0.05)
            loop.reset(seed)  # what came before leaves nothing behind
            record = loop.play(MOTIONS["squat"], 0.4, seed)
            return loop.trace_events().tobytes() + record.qpos.tobytes()

    first = trace(5)
    assert first == trace(5)
    assert first != trace(6)


def test_loops_on_threads_do_what_each_does_alone(make):
    def positions(threads: int) -> list[bytes]:
        loops = [make() for _ in range(3)]
        for seed, loop in enumerate(loops):
            loop.reset(seed)
        run_loops(loops, 150, threads)
        found = [loop.data.qpos.tobytes() for loop in loops]
        for loop in loops:
            loop.close()
        return found

    assert positions(1) == positions(2)


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ({"usart1.lost_from": 0.3}, 4),
        ({"imu.dead_from": 0.3, "imu.dead_to": 9.0}, 2),
        ({"hip.mute_from": 0.3, "hip.mute_to": 9}, 1),
    ],
)
def test_silence_ends_in_an_emergency_stop(make, fault, cause):
    with make() as loop:
        loop.faults(fault | ({"usart1.lost_to": 9} if cause == 4 else {}))
        loop.reset(0)
        before, after = loop.run(0.34), loop.run(0.16)
    assert before.watch["estop"][-1, 0] == 0
    assert int(after.watch["estop"][-1, 0]) == cause


def test_a_brown_out_starts_the_firmware_again(make):
    with make(trace=1 << 16) as loop:
        loop.faults({"cpu.brownout_from": 0.2, "cpu.brownout_to": 0.21})
        loop.reset(0)
        record = loop.run(0.4)
        events = loop.trace_events()
        assert loop.counters.resets == 1
    assert [int(e["a"]) for e in events if e["kind"] == Kind.RESET] == [0, 3]
    age = record.command_age[:, 0]
    assert np.nanmax(age[200:220]) > 9e-3
    assert age[-1] < 3e-3


def test_a_bus_that_goes_off_comes_back(make):
    with make(trace=1 << 16) as loop:
        loop.faults({"can1.off_from": 0.2, "can1.off_to": 0.21})
        loop.reset(0)
        record = loop.run(0.35)
        events = loop.trace_events()
    changes = events[events["kind"] == Kind.BUS_OFF]["a"]
    assert changes[0] == 1
    assert changes[-1] == 0
    assert np.nanmax(record.command_age[200:230]) > 9e-3
    assert np.nanmax(record.command_age[-20:]) < 4e-3


def test_a_late_timer_start_does_not_disturb_the_firmware(make):
    with make() as loop:
        loop.reset(0, counter_offset=2**32 - 150_000)
        record = loop.run(0.4)
    assert record.watch["estop"].max() == 0


def test_double_maths_costs_instructions(make):
    def instructions(bugs: tuple[str, ...]) -> float:
        with make(bugs=bugs) as loop:
            loop.reset(0)
            return float(loop.run(0.3).instructions[100:].mean())

    assert instructions(("double-maths",)) > 1.5 * instructions(())


def test_an_interrupt_never_comes_inside_an_it_block(make):
    # Soft-double code is full of them: the handler would begin with its condition and skip instructions.
    for seed in (0, 1):
        with make("quadruped", ("double-maths",)) as loop:
            loop.reset(seed)
            assert loop.run(1.0).instructions.sum() > 2e6


def test_exact_mode_runs_the_same_program(make):
    with make(exact=True) as loop:
        loop.reset(0)
        record = loop.run(0.2)
    assert record.watch["estop"].max() == 0
    assert np.nanmax(record.command_age[100:]) < 3e-3


def test_an_unknown_fault_is_refused(make):
    with make() as loop, pytest.raises(Problem, match=r"did you mean '\*\.loss'"):
        loop.set("*.los", 1)
