"""Unmodified programs run on the simulated buses and on virtual time."""

import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.shim_host import Shim, Stuck, check_program

SCRIPT = """can can0 1000000
i2c i2c-1 400000
lsm6dsox imu i2c-1 106
mit-motor m1 can0 1 65 0
set m1.reply_hi_ms 2.0
serial /dev/ttyAMA0
"""
FLAT = np.array([0.5, 0.1, 0, 0, 0, 0, 0, 9.81])
COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


@dataclass(frozen=True)
class Ran:
    """What a program printed, its exit code and its trace."""

    lines: list[str]
    code: int
    steps: int
    trace: np.ndarray
    refused: str


def run(*command: str, steps: int = 10000, seed: int = 0, wall: float = 10.0) -> Ran:
    """Run a program on a board with one motor and one IMU that lies flat."""
    with Shim(command, SCRIPT, 1, seed=seed, trace=4096, wall_seconds=wall, sensors=FLAT) as shim:
        done = 0
        while done < steps and shim.await_step():
            done += 1
            shim.go_on()
        code = shim.finish()
        return Ran(shim.output().splitlines(), code, done, shim.trace(), shim.refused)


def installed(name: str) -> str:
    """The path of one of Debian's programs."""
    found = shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="module")
def exercise(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The test program, compiled."""
    program = tmp_path_factory.mktemp("shim") / "exercise"
    source = Path(__file__).parent / "shim" / "exercise.c"
    subprocess.run([str(COMPILER), "-O1", "-w", str(source), "-o", str(program), "-pthread"], check=True)
    return str(program)


def test_debians_i2cget_reads_who_am_i() -> None:
    assert run(installed("i2cget"), "-y", "1", "0x6a", "0x0f").lines == ["0x6c"]


def test_debians_i2cdetect_finds_the_imu_alone() -> None:
    found = run(installed("i2cdetect"), "-y", "1").lines
    assert sum("6a" in line.split()[1:] for line in found[1:]) == 1
    assert sum(word not in ("--", "6a") for line in found[1:] for word in line.split()[1:]) == 0


def test_debians_cansend_moves_the_motor() -> None:
    ran = run(installed("cansend"), "can0", "001#7FFF7FF00000099A")
    commands = ran.trace[ran.trace["kind"] == 12]
    assert (ran.code, len(commands)) == (0, 1)
    expected = 0x99A * 66 / 4095 - 33  # the 12 bits of the torque in a MIT-style frame
    assert commands["b"][0] * 1e-6 == pytest.approx(expected, abs=1e-3)


def test_sleeping_takes_virtual_time(exercise: str) -> None:
    ran = run(exercise, "sleeps")
    said = ["usleep 1500", "nanosleep 2500", "sleep 2000000", "absolute 1000000", "same second 1", "busy 1"]
    assert ran.lines == said
    assert ran.steps == 3009  # ms


def test_a_default_timeout_of_sockets_does_not_end_the_program(exercise: str) -> None:
    socket.setdefaulttimeout(5.0)  # as ROS 1 does
    try:
        assert run(exercise, "sleeps").lines[0] == "usleep 1500"
    finally:
        socket.setdefaulttimeout(None)


def test_locks_conditions_semaphores_and_cancellation(exercise: str) -> None:
    assert run(exercise, "threads").lines == [
        "timedwait Connection timed out 1000",
        "wait 7 4000",
        "sem 5000",
        "sem_timedwait -1 Connection timed out",
        "join 5",
        "monotonic 3000000",
        "cancel 1",
    ]


def test_the_thread_of_higher_priority_runs_first(exercise: str) -> None:
    assert run(exercise, "priorities").lines == ["high", "low"]


def test_poll_select_epoll_and_timerfd(exercise: str) -> None:
    assert run(exercise, "readiness").lines == [
        "poll 0 4000",
        "poll 1 1",
        "read 16 id 41 of 1",
        "select 1",
        "epoll 1 1",
        "epoll 1 1 at 5000",
        "timer 8 6",
        "again -1 Resource temporarily unavailable",
        "pipe 1 1",
    ]


def test_a_thread_that_blocks_on_another_lets_it_run(exercise: str) -> None:
    assert run(exercise, "system").lines == ["eventfd 3 after 2000"]


def test_sockets_share_a_bus_and_can_fd_is_refused(exercise: str) -> None:
    ran = run(exercise, "frames")
    assert ran.lines == [
        "fd frames -1",
        "fd write -1 Invalid argument",
        "b 16 id 1 stamped 1 from 1",
        "b 16 id 41",
        "only 16 id 41",
        "a 16 id 41",
        "all 16 id 1",
        "queued 10 then No buffer space available",
        "limit -1 Resource temporarily unavailable 1",
        "names 1 0 can0",
    ]
    assert "CAN FD" in ran.refused


def test_several_frames_a_call(exercise: str) -> None:
    assert run(exercise, "batches").lines == [
        "sent 3 of 16 bytes",
        "parts 16 id 5",
        "received 2 last 7",
        "none -1 Resource temporarily unavailable",
    ]


def test_a_thread_that_waits_for_signals_lets_the_others_run(exercise: str) -> None:
    none, waited = run(exercise, "signals", wall=2.0).lines
    assert none == "none -1 Resource temporarily unavailable"
    assert waited in ("sigwait 0 1 after 5 ms", "sigwait 0 1 after 6 ms")


def test_futexes_of_libraries_wait_on_virtual_time(exercise: str) -> None:
    assert run(exercise, "futexes", wall=2.0).lines == [
        "woken 1",
        "waited 4 ms",
        "span -1 Connection timed out 2 ms",
        "moment -1 Connection timed out 1000 ms",
    ]


def test_a_program_that_goes_into_the_background_is_named(exercise: str) -> None:
    ran = run(exercise, "background", wall=2.0)
    assert (ran.lines, ran.code) == ([], 0)
    assert "run it in the foreground" in ran.refused


def test_i2c_transfers_of_every_kind(exercise: str) -> None:
    assert run(exercise, "registers").lines == [
        "none -1 No such file or directory",
        "rdwr 2 6c took 1",
        "write 2",
        "read 1 40",
        "block 0 z 1",
        "nobody -1 No such device or address",
    ]


def test_the_serial_port_leads_to_the_simulator(exercise: str) -> None:
    with Shim([exercise, "host"], SCRIPT, 1) as shim:
        echoed = b""
        for k in range(10):
            assert shim.await_step()
            echoed += shim.take_host()
            if k == 3:
                shim.send_host(b"stand up")
            shim.go_on()
    assert echoed == b"stand up"


def test_the_same_seed_gives_the_same_trace(exercise: str) -> None:
    first, again, other = (run(exercise, "trace", seed=seed).trace.tobytes() for seed in (3, 3, 4))
    assert first == again != other
    assert len(first) > 100 * 32


def test_a_program_that_never_waits_is_ended_with_a_sentence(exercise: str) -> None:
    with pytest.raises(Stuck, match="without sleeping"):
        run(exercise, "forever", wall=0.3)


def test_a_static_program_is_refused(tmp_path: Path) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text("int main(void) { return 0; }")
    made = subprocess.run([str(COMPILER), "-static", str(source), "-o", str(program)], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("no static C library")
    with pytest.raises(Problem, match="statically linked"):
        check_program(program)


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "a.sh"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(Problem, match="not an ELF program"):
        check_program(script)
    with pytest.raises(Problem, match="cannot read"):
        check_program(tmp_path / "none")
