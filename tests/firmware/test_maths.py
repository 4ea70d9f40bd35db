"""The reference firmware computes the same on the board, on this machine and in NumPy."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop
from isthmus.firmware.reference import FOLDER

HERE = Path(__file__).parent

STEPS = 400


def on_board(path) -> np.ndarray:
    with Loop(load_board(HERE / "console.toml"), read_elf(path)) as loop:
        loop.reset(0)
        loop.run(0.05)
        assert loop.variable("finished", "i4")[0] == 1
        return loop.variable("out", "f4", STEPS * 8).reshape(STEPS, 8).copy()


def on_host(tmp_path) -> np.ndarray:
    library = tmp_path / "maths.so"
    flags = ["-shared", "-fPIC", "-O2", "-ffp-contract=off", "-DHOST", f"-I{FOLDER}"]
    subprocess.run(["cc", *flags, HERE / "programs" / "maths.c", "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.compute()
    return np.ctypeslib.as_array((ctypes.c_float * (STEPS * 8)).in_dll(loaded, "out")).reshape(STEPS, 8).copy()


def test_board_and_host_agree_bit_for_bit(program, tmp_path):
    board, host = on_board(program("maths", f"-I{FOLDER}")), on_host(tmp_path)
    assert np.ptp(board, axis=0).min() > 1e-4  # everything moves
    np.testing.assert_array_equal(board.view(np.uint32), host.view(np.uint32))


def test_numpy_in_single_precision_agrees_bit_for_bit(tmp_path):
    np.testing.assert_array_equal(on_host(tmp_path)[:, :5], attitudes())


def test_double_precision_differs_by_rounding_only(tmp_path):
    difference = np.abs(on_host(tmp_path)[:, :4] - attitudes(np.float64)[:, :4]).max()
    assert 0 < difference < 1e-4


def attitudes(real=np.float32) -> np.ndarray:
    """Mahony's filter over the same readings (STEPS, 5)."""
    state, rows = 12345, []

    def draw(span: int) -> int:
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return (state >> 8) % span

    gyro_lsb = real(np.float32(35e-3) * np.float32(0.017453292519943295))
    accel_lsb = real(np.float32(0.122e-3) * np.float32(9.80665))
    q, b = [real(1), real(0), real(0), real(0)], [real(0)] * 3
    kp, ki, two, half = real(1), real(np.float32(0.05)), real(2), real(0.5)
    for _ in range(STEPS):
        g = [real(draw(span) - span // 2) * gyro_lsb for span in (6000, 6000, 4000)]
        a = [real(v) * accel_lsb for v in (draw(3000) - 1500, draw(3000) - 1500, 7000 + draw(2400))]
        dt = real(np.float32(0.0017) + np.float32(1e-6) * np.float32(draw(700)))
        for _ in range(12):
            for span in (50, 256, 256, 256, 256, 100):
                draw(span)
        n = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
        if 25 < n < 300:
            r = real(1) / np.sqrt(n)
            x, y, z = (v * r for v in a)
            v0 = two * (q[1] * q[3] - q[0] * q[2])
            v1 = two * (q[0] * q[1] + q[2] * q[3])
            v2 = q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]
            e = (y * v2 - z * v1, z * v0 - x * v2, x * v1 - y * v0)
            b = [b[k] + ki * e[k] * dt for k in range(3)]
            g = [g[k] + (kp * e[k] + b[k]) for k in range(3)]
        h = half * dt
        new = [
            q[0] - h * (q[1] * g[0] + q[2] * g[1] + q[3] * g[2]),
            q[1] + h * (q[0] * g[0] + q[2] * g[2] - q[3] * g[1]),
            q[2] + h * (q[0] * g[1] - q[1] * g[2] + q[3] * g[0]),
            q[3] + h * (q[0] * g[2] + q[1] * g[1] - q[2] * g[0]),
        ]
        m = real(1) / np.sqrt(new[0] * new[0] + new[1] * new[1] + new[2] * new[2] + new[3] * new[3])
        q = [v * m for v in new]
        rows.append([*q, b[0]])
    return np.array(rows, real)
