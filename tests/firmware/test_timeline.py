"""A trace becomes JSON for Perfetto and a page."""

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

from isthmus.firmware.board import load_board
from isthmus.firmware.rig import TRACE, Kind
from isthmus.firmware.robot import FOLDER
from isthmus.firmware.timeline import write_timeline

BOARD = load_board(FOLDER / "leg.toml")
EVENTS = np.array(
    [
        (1_000_000, Kind.EXC_ENTER, 15, 0, 0),
        (1_004_000, Kind.EXC_LEAVE, 15, 0, 0),
        (9_990_000_000, Kind.CAN_FRAME, 0, 0x42 | 1 << 32, 120_000),
        (9_990_500_000, Kind.COMMAND, 1, 2_400_000, -3_250_000),
        (9_991_000_000, Kind.I2C, 1, 1 << 32 | 0x6A << 8 | 12, 300_000),
        (9_992_000_000, Kind.EXC_ENTER, 36, 0, 0),
        (9_992_010_000, Kind.EXC_LEAVE, 36, 0, 0),
        (9_993_000_000, Kind.WATCHDOG, 0, 0, 0),
    ],
    TRACE,
)


def events(folder: Path) -> list[dict[str, object]]:
    """What is in the trace file, without the names of the tracks."""
    return [one for one in json.loads((folder / "trace.json").read_text())["traceEvents"] if one["ph"] != "M"]


def test_durations_and_labels(tmp_path: Path) -> None:
    write_timeline(tmp_path, EVENTS, BOARD)
    found = events(tmp_path)
    named = {str(one.get("name")): one for one in found}
    frame = named["CAN frame 0x42"]
    assert (frame["ph"], frame["ts"], frame["dur"]) == ("X", 9990000.0, 120.0)
    assert named["I2C 0x6a, 12 bytes NACK"]["dur"] == 300.0
    assert named["IRQ 20"]["ph"] == "B"
    assert named["command -3.25 N m"]["ph"] == "i"
    assert named[f"sample age {BOARD.joints[1]}"]["args"] == {"ms": 2.4}
    assert sum(one["ph"] == "B" for one in found) == sum(one["ph"] == "E" for one in found) == 2


def test_only_what_is_near_a_moment_is_kept(tmp_path: Path) -> None:
    write_timeline(tmp_path, EVENTS, BOARD, around_s=9.9925)
    assert "SysTick" not in {one.get("name") for one in events(tmp_path)}
    assert len(events(tmp_path)) == 7


def test_the_page_shows_marks_and_escapes_text(tmp_path: Path) -> None:
    page = write_timeline(tmp_path, EVENTS, BOARD, 9.9925, title="joint <0> & more").read_text()
    assert "joint &lt;0&gt; &amp; more" in page
    assert page.count("<rect") == 5
    assert "watchdog reset" in page
    HTMLParser().feed(page)


def test_a_board_without_a_trace_still_has_a_page(tmp_path: Path) -> None:
    assert write_timeline(tmp_path, EVENTS[:0], BOARD).exists()
    assert events(tmp_path) == []
