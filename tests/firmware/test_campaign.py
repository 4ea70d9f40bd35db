"""A campaign tells a firmware with a bug from one without."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from isthmus.cli.firmware.test import Test as Command
from isthmus.core import Problem
from isthmus.firmware.board import Board, load_board
from isthmus.firmware.campaign import Subject, run_campaign, summary
from isthmus.firmware.campaign_file import CampaignFile
from isthmus.firmware.faults import Case, all_cases, choose
from isthmus.firmware.harm import HARMS, MEASURES
from isthmus.firmware.invariants import Expectation
from isthmus.firmware.reference import BUGS, COMPILER, build_reference
from isthmus.firmware.robot import FOLDER

pytest.importorskip("unicorn")
pytestmark = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"needs {COMPILER}")


@pytest.fixture(scope="module")
def board() -> Board:
    """One leg: the quickest."""
    return load_board(FOLDER / "leg.toml")


def firmware(tmp_path: Path, *bugs: str) -> Path:
    """The leg's firmware under a name of its own."""
    return Path(shutil.copy(build_reference(bugs, "leg"), tmp_path / f"{'-'.join(bugs) or 'clean'}.elf"))


def quick(board: Board, *names: str) -> list[Case]:
    """Cases, cut short after what matters."""
    return [replace(case, seconds=min(case.seconds, 2.4)) for case in choose(all_cases(board), names)]


def test_the_clean_firmware_passes_and_a_bug_is_caught(board: Board, tmp_path: Path) -> None:
    cases = quick(board, "nominal", "joint-mute", "frame-loss")
    clean, stale = (
        run_campaign(Subject.of(board, firmware(tmp_path, *bugs)), cases, seed=3) for bugs in ((), ("stale-frame",))
    )
    assert [result.sentences for result in clean] == [[], [], []]
    assert [bool(result.violations) for result in stale] == [False, False, True]
    assert [v.name for v in stale[2].violations] == ["estop_ms"]
    assert summary(stale)["violated"] == 1


def test_a_firmware_that_computes_too_much_is_caught(board: Board, tmp_path: Path) -> None:
    (result,) = run_campaign(Subject.of(board, firmware(tmp_path, "double-maths")), quick(board, "nominal"))
    assert [violation.name for violation in result.violations] == ["max_instructions_per_ms"]


def test_the_command_exits_with_1_and_leaves_report_and_timeline(board: Board, tmp_path: Path) -> None:
    command = Command(
        firmware(tmp_path, "stale-frame"),
        board="leg",
        case=("joint-mute",),
        junit=tmp_path / "junit.xml",
        out=tmp_path / "out",
    )
    with pytest.raises(SystemExit) as stopped:
        command.run()
    assert stopped.value.code == 1
    assert "still driven" in (tmp_path / "junit.xml").read_text()
    assert (tmp_path / "out" / "joint-mute" / "timeline.html").exists()
    trace = json.loads((tmp_path / "out" / "joint-mute" / "trace.json").read_text())
    assert len(trace["traceEvents"]) > 1000


def test_an_interrupted_campaign_goes_on_and_another_firmware_begins_anew(board: Board, tmp_path: Path) -> None:
    subject = Subject.of(board, firmware(tmp_path))
    file = CampaignFile(tmp_path / "out", subject, seed=0)
    (result,) = run_campaign(subject, [Case("host-lost", "x", seconds=0.1, expect=Expectation())])
    file.add(result)
    assert list(CampaignFile(tmp_path / "out", subject, seed=0).results) == ["host-lost"]
    assert CampaignFile(tmp_path / "out", subject, seed=1).results == {}
    other = Subject.of(board, firmware(tmp_path, "gyro-sign"))
    assert CampaignFile(tmp_path / "out", other, seed=0).results == {}
    (tmp_path / "out" / "campaign.json").write_text('{"key": 3')
    with pytest.raises(Problem, match="not valid JSON"):
        CampaignFile(tmp_path / "out", subject, seed=0)


def test_a_firmware_for_another_kind_of_board_is_a_problem(board: Board, tmp_path: Path) -> None:
    with pytest.raises(Problem, match="no Linux program"):
        Subject.of(load_board(FOLDER / "linux.toml"), firmware(tmp_path))
    with pytest.raises(Problem, match="has a \\[cpu\\]"):
        Subject.of(board, Path("/bin/true"))


def test_every_seeded_bug_has_a_harm_that_can_be_measured() -> None:
    assert set(HARMS) == set(BUGS)
    names = {case.name for case in all_cases(load_board(FOLDER / "quadruped.toml"), race=True)}
    assert {harm.case for harm in HARMS.values()} <= names
    assert {harm.measure for harm in HARMS.values()} <= set(MEASURES)
