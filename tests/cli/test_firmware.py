"""The commands that run a firmware."""

import json
import shutil
from pathlib import Path

import pytest

from isthmus.cli.firmware.build import Build
from isthmus.cli.firmware.run import Run, find_board, parse_faults
from isthmus.cli.parse import parse
from isthmus.core import Problem
from isthmus.firmware.reference import COMPILER

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
