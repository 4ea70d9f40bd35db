"""The twin replays recorded ages, joint by joint."""

from pathlib import Path

import numpy as np
import pytest

from isthmus.core import Problem
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop
from isthmus.firmware.motions import MOTIONS
from isthmus.firmware.reference import build_reference
from isthmus.firmware.rig import TRACE, Kind
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.twin import Twin, ages_of, fit_twin, kolmogorov_smirnov, load_twin, quanta_of, replayed_ages

PERIOD = 2e-3


def twin(ages: list[list[float]], quantum: float = 0.0) -> Twin:
    """A twin of made-up ages, s."""
    return Twin(("hip", "knee"), PERIOD, np.array(ages), np.array([[1e-3], [2e-3]]), quantum, 0.0)


def commands(ages_ms: np.ndarray, joint: int) -> np.ndarray:
    """A trace with a command every 2 ms."""
    out = np.zeros(len(ages_ms), TRACE)
    out["t"] = (np.arange(len(ages_ms)) + 1) * 2_000_000 + 1000 * joint
    out["kind"], out["source"], out["a"] = Kind.COMMAND, joint, np.round(ages_ms * 1e6)
    return out


def test_a_value_comes_out_as_old_as_was_recorded() -> None:
    channel = twin([[0.5e-3, 0.5e-3], [3.5e-3, 3.5e-3]]).sensors(3, (0, 1, -1, 0), (0, 0, 0, 0), 1e-3)
    channel.begin(np.zeros((3, 4)), {}, np.random.default_rng(0), slice(None))
    for k in range(1, 12):
        out = channel(np.full((3, 4), float(k)), {}, slice(None))
    assert out == pytest.approx(np.tile([10.5, 7.5, 11.0, 10.5], (3, 1)))


def test_before_anything_arrives_the_first_value_is_seen() -> None:
    channel = twin([[3e-3], [3e-3]]).sensors(1, (0,), (0,), 1e-3)
    channel.begin(np.array([[4.0]]), {}, np.random.default_rng(0), slice(None))
    assert [float(channel(np.array([[9.0]]), {}, slice(None))[0, 0]) for _ in range(4)] == [4, 4, 4, 9]


def test_worlds_that_stand_still_keep_what_they_saw() -> None:
    channel = twin([[2e-3], [2e-3]]).sensors(2, (0,), (0,), 1e-3)
    channel.begin(np.zeros((2, 1)), {}, np.random.default_rng(0), slice(None))
    mask = np.array([True, False])
    for k in range(1, 6):
        channel(np.full((2, 1), float(k)), {}, slice(None))
    for k in range(6, 9):
        channel(np.full((1, 1), float(k)), {}, mask)
    assert channel(np.full((1, 1), 9.0), {}, mask)[0, 0] == 7.0
    assert channel(np.full((1, 1), 6.0), {}, ~mask)[0, 0] == 5.0


def test_values_are_rounded_to_their_quanta() -> None:
    channel = twin([[0.0], [0.0]]).sensors(1, (0, 1), (0.25, 0.0), 1e-3)
    channel.begin(np.zeros((1, 2)), {}, np.random.default_rng(0), slice(None))
    assert channel(np.array([[0.9, 0.9]]), {}, slice(None)).tolist() == [[1.0, 0.9]]


def test_ages_keep_their_distribution_joint_by_joint() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.uniform(1.0, 3.0, 3000), 2.0 + 2.0 * rng.integers(0, 2, 3000)
    made = fit_twin(np.concatenate([commands(first, 0), commands(second, 1)]), ("a", "b"), 0.0, 0.0, after_s=0.0)
    assert made.period_s == pytest.approx(PERIOD)
    replayed = replayed_ages(made, n=16, calls=400, seed=0)
    assert kolmogorov_smirnov(replayed[0], 1e-3 * first) < 0.02
    assert kolmogorov_smirnov(replayed[1], 1e-3 * second) < 0.02
    assert kolmogorov_smirnov(replayed[0], 1e-3 * second) > 0.3


def test_worlds_start_at_different_places_of_the_record() -> None:
    made = twin([list(np.linspace(0, 4e-3, 500)), [0.0] * 500])
    assert np.std(replayed_ages(made, n=50, calls=1, seed=3)[0]) > 0.5e-3


def test_a_twin_survives_its_file(tmp_path: Path) -> None:
    made = twin([[1e-3, 2e-3], [3e-3, 4e-3]], quantum=1e-4)
    made.save(tmp_path / "twin.npz")
    loaded = load_twin(tmp_path / "twin.npz")
    assert loaded.joints == made.joints
    assert loaded.ages_s.tolist() == made.ages_s.tolist()
    assert (loaded.position_quantum, loaded.period_s) == (1e-4, PERIOD)


def test_bad_twins_are_problems(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="between 0 and 1 s"):
        twin([[1e-3], [-1e-3]])
    with pytest.raises(Problem, match="shape"):
        twin([[1e-3]])
    with pytest.raises(Problem, match="record for longer"):
        fit_twin(commands(np.ones(50), 0), ("a",), 0.0, 0.0)
    with pytest.raises(Problem, match="joint 7"):
        twin([[0.0], [0.0]]).sensors(1, (7,), (0,), 1e-3)
    (tmp_path / "no.npz").write_bytes(b"nothing")
    with pytest.raises(Problem, match="firmware twin"):
        load_twin(tmp_path / "no.npz")


def test_the_twin_of_the_firmware_matches_another_run_of_it() -> None:
    pytest.importorskip("unicorn")
    board, elf = load_board(FOLDER / "leg.toml"), read_elf(build_reference(robot="leg"))
    traces: list[np.ndarray] = []
    for seed in (0, 1):
        with Loop(board, elf, trace=400_000) as loop:
            loop.reset(seed)
            loop.play(MOTIONS["squat"], 11.0, seed)
            traces.append(loop.trace_events())
    made = fit_twin(traces[0], board.joints, *quanta_of(board))
    replayed = replayed_ages(made, n=32, calls=200, seed=0)
    assert max(kolmogorov_smirnov(replayed[j], ages_of(traces[1], j, 1.0)) for j in range(3)) <= 0.05
    assert made.position_quantum == pytest.approx(25 / 65535)
