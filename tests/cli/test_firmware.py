"""The commands that run a firmware."""

import json
import shutil
from pathlib import Path

import pytest

from isthmus.cli.firmware.build import Build
from isthmus.cli.firmware.run import Run, find_board, parse_faults
from isthmus.cli.firmware.test import Test as Campaign
from isthmus.cli.main import check_numbers
from isthmus.cli.parse import parse
from isthmus.core import Problem
from isthmus.firmware.reference import COMPILER
from isthmus.firmware.robot import FOLDER

pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"{COMPILER} is not installed")


@pytest.fixture
def elf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("ISTHMUS_CACHE", str(Path(__file__).parents[2] / ".pytest_cache" / "native"))
    Build(robot="leg", out=tmp_path / "leg.elf").run()
    capsys.readouterr()
    return tmp_path / "leg.elf"


def test_a_run_leaves_result_trace_and_timeline(elf, tmp_path, capsys):
    Run(elf, "leg", "squat", 0.8, fault=("imu.gyro_noise=0.01",), out=tmp_path / "run", json=True).run()
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "run" / "result.json").read_text())
    assert printed["violations"] == []
    assert printed["faults"] == {"imu.gyro_noise": 0.01}
    assert printed["timing"]["longest_command_gap_ms"] < 3
    assert (tmp_path / "run" / "timeline.html").stat().st_size > 1000


def test_what_the_board_watches_is_printed(elf, tmp_path, capsys):
    text = (FOLDER / "leg.toml").read_text().partition("[watch]")[0] + '[watch]\nstop = "estop:u32"\nx = "nosuch:f32"\n'
    (tmp_path / "board.toml").write_text(text)
    Run(elf, str(tmp_path / "board.toml"), seconds=0.1).run()
    printed = capsys.readouterr().out
    assert "0 to 0" in printed
    assert "no variable nosuch" in printed


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("seed", -1, "seed must be at least 0"),
        ("counter_offset", -1, "counter-offset must be at least 0"),
        ("wall_seconds", 0.0, "wall-seconds must be at least"),
        ("out", Path("/proc/x"), "cannot write to the folder /proc/x"),
        ("fault", ("can1.loss=3",), "can1.loss is 3, and must be from 0 to 1"),
        ("fault", ("can1.delay_ms=-1",), "must not be negative"),
    ],
)
def test_options_out_of_range_are_refused_before_anything_runs(elf, option, value, said):
    with pytest.raises(Problem, match=said):
        Run(elf, "leg", seconds=0.1, **{option: value}).run()


def test_a_counter_may_begin_shortly_before_it_wraps():
    check_numbers(parse(["firmware", "run", "x.elf", "--counter-offset", "4290000000"]))


def test_where_nothing_can_be_written_is_said(elf):
    with pytest.raises(Problem, match="cannot write"):
        Build(robot="leg", out=Path("/proc/x.elf")).run()
    with pytest.raises(Problem, match="cannot write to the folder"):
        Campaign(elf, "leg", ("nominal",), junit=Path("/proc/x/report.xml")).run()


def test_a_linux_program_is_given_its_arguments(elf, tmp_path, capsys):
    board = tmp_path / "board.toml"
    board.write_text('[board]\n[bus.can0]\ntype = "can"\n')
    Run(Path(str(shutil.which("echo"))), str(board), seconds=0.1, arguments="'two words' -n").run()
    assert "two words -n" in capsys.readouterr().out
    (tmp_path / "robot.py").write_text("print(1)")
    with pytest.raises(Problem, match=r"python3 --arguments robot\.py"):
        Run(tmp_path / "robot.py", str(board), seconds=0.1).run()
    with pytest.raises(Problem, match="takes no --arguments"):
        Run(elf, "leg", seconds=0.1, arguments="-v").run()
    with pytest.raises(Problem, match="not words of a shell"):
        Run(Path(str(shutil.which("echo"))), str(board), seconds=0.1, arguments="'open").run()


def test_a_violation_and_a_halt_end_with_code_1(elf, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        Run(elf, "leg", seconds=1.2, fault=("imu.dead_from=0.8", "imu.dead_to=9")).run()
    assert ended.value.code == 1
    assert "violated" in capsys.readouterr().out


def test_faults_can_be_given_several_times():
    command = parse(["firmware", "run", "x.elf", "--fault", "a.b=1", "--fault", "c.d=2"])
    assert parse_faults(command.fault) == {"a.b": 1.0, "c.d": 2.0}


@pytest.mark.parametrize("text", ["loss", "=1", "a.b=x", "a.b=nan", "a.b=1e300"])
def test_a_fault_that_is_no_number_is_refused(text):
    with pytest.raises(Problem, match="needs a name and a number"):
        parse_faults((text,))


def test_a_board_that_does_not_exist_is_refused():
    with pytest.raises(Problem, match="leg or quadruped"):
        find_board("nope.toml")
