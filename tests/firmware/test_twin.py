"""The twin replays recorded ages, joint by joint."""

from pathlib import Path

import numpy as np
import pytest

from isthmus.cli.firmware.equipment import provide_twins, with_twin
from isthmus.core import Problem
from isthmus.evaluate import evaluate
from isthmus.firmware.board import load_board
from isthmus.firmware.elf import read_elf
from isthmus.firmware.loop import Loop
from isthmus.firmware.motions import MOTIONS
from isthmus.firmware.reference import build_reference
from isthmus.firmware.rig import TRACE, Kind
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.twin import (
    Twin,
    ages_of,
    fit_twin,
    kolmogorov_smirnov,
    links,
    load_twin,
    quanta_of,
    replayed_ages,
)
from isthmus.gaps import Gap
from isthmus.robots import load_task
from isthmus.robots.leg import make_leg_squat

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


def host_frames(sent_ms: list[float], took_ms: list[float | None]) -> np.ndarray:
    """A trace of frames of two bytes; one that took None has lost its second byte."""
    rows = list[tuple[int, int, int, int, int]]()
    for number, (sent, took) in enumerate(zip(sent_ms, took_ms, strict=True), 1):
        rows.append((int(sent * 1e6), Kind.HOST_SENT, 0, 2, number))
        arrival = sent + (0.5 if took is None else took)
        rows.append((int(arrival * 1e6) - 1000, Kind.UART_RX, 0, 1, number))
        rows += [] if took is None else [(int(arrival * 1e6), Kind.UART_RX, 0, 1, number)]
    return np.array(rows, TRACE)


def test_what_a_motor_follows_is_as_old_as_its_way_and_older_when_frames_are_lost() -> None:
    sent = [20.0 * k for k in range(30)]
    took: list[float | None] = [5.0] * 30
    took[10] = None
    host = host_frames(sent, took)
    events = np.concatenate([commands(np.ones(300), joint) for joint in (0, 1)])
    made = fit_twin(np.concatenate([events, host]), ("a", "b"), 0.0, 0.0, after_s=0.0)
    ages = 1e3 * made.action_ages_s[1]
    # Commands come every 2 ms: of the ten in a period, the first two or three still follow the frame before.
    assert ages[5] == pytest.approx(20 * 0.3, abs=2.1)
    assert ages[10] == pytest.approx(20.0)  # all of this period the frame before
    assert ages[11] == pytest.approx(40 * 0.3, abs=4.1)


def test_a_task_behind_a_twin_gets_its_commands_late() -> None:
    spec = make_leg_squat().robot_model.spec
    made = Twin(spec.action_names, PERIOD, np.zeros((3, 1)), np.array([[0.0], [0.01], [0.05]]), 0.0, 0.0)
    actions, sensors = links(made, spec)(1)
    actions.begin(np.zeros((1, 3)), {}, np.random.default_rng(0), slice(None))
    sensors.begin(np.zeros((1, 9)), {}, np.random.default_rng(0), slice(None))
    for k in range(1, 8):
        out = actions(np.full((1, 3), float(k)), {}, slice(None))
    assert out == pytest.approx(np.array([[7.0, 6.5, 4.5]]))  # steps of 20 ms
    assert sensors(np.arange(9.0)[None], {}, slice(None)) == pytest.approx(np.arange(9.0)[None])
    with pytest.raises(Problem, match="abduction is none of them"):
        links(twin([[0.0], [0.0]]), spec)


def test_a_task_behind_a_twin_is_another_in_simulation(tmp_path: Path) -> None:
    file = tmp_path / "twin.npz"
    Twin(("abduction", "hip", "knee"), PERIOD, np.zeros((3, 1)), np.full((3, 1), 0.04), 0.0, 0.0).save(file)
    provide_twins()
    plain, behind = load_task("leg-squat"), load_task(with_twin("leg-squat", file))
    assert plain.policy is not None
    scores = [
        evaluate(task, world, plain.policy, 1, np.random.default_rng(0)).score
        for task, world in ((plain, plain.source(5)), (behind, behind.source(5)), (behind, behind.target(Gap(), 5)))
    ]
    assert scores[1] < 0.8 * scores[0]
    assert scores[2] == pytest.approx(scores[1], rel=0.1)
    Twin(("abduction", "hip", "knee"), PERIOD, np.zeros((3, 1)), np.full((3, 1), 0.02), 0.0, 0.0).save(file)
    text = f"leg-squat+twin={file}@{'0' * 12}"
    with pytest.raises(Problem, match="has changed since this began"):
        load_task(text)


def test_a_late_host_link_makes_the_twin_late() -> None:
    pytest.importorskip("unicorn")
    board, elf = load_board(FOLDER / "leg.toml"), read_elf(build_reference(robot="leg"))
    found = list[np.ndarray]()
    for faults in ({}, {"usart1.delay_ms": 7.0}, {"usart1.delay_ms": 7.0, "usart1.jitter_ms": 30.0}):
        with Loop(board, elf, trace=400_000) as loop:
            loop.faults(faults)
            loop.reset(0)
            loop.play(MOTIONS["squat"], 4.0, 0)
            found.append(1e3 * fit_twin(loop.trace_events(), board.joints, 0.0, 0.0).action_ages_s)
    prompt, late, uneven = found
    assert prompt.max() < 3
    assert late[:, 1:] == pytest.approx(8.0, abs=2.0)
    assert uneven.mean() == pytest.approx(7 + 15, abs=5)  # behind a frame that is late those after it wait
    assert uneven.std() > 4
