"""The report is XML that a CI system reads, whatever is in the sentences."""

from pathlib import Path
from xml.etree import ElementTree as ET

from isthmus.firmware.campaign import CaseResult
from isthmus.firmware.invariants import Violation
from isthmus.firmware.junit import junit_xml, write_junit

CASES = [
    CaseResult("nominal", "nothing", 1.25, 4.0),
    CaseResult("host-lost", "silence", 0.5, 3.0, (Violation("estop_ms", 2.1, 'joint <0> & "more"\x07', 5.0),)),
    CaseResult("brown-out", "power", 0.0, 0.0, skipped="the board has no cpu"),
]


def test_counts_and_sentences_are_in_the_report() -> None:
    suite = ET.fromstring(junit_xml("a & b.elf", CASES))
    assert suite.attrib["name"] == "a & b.elf"
    counts = {key: suite.attrib[key] for key in ("tests", "failures", "skipped", "errors")}
    assert counts == {"tests": "3", "failures": "1", "skipped": "1", "errors": "0"}
    assert float(suite.attrib["time"]) == 1.75
    passed, failed, skipped = suite.findall("testcase")
    assert (len(passed), failed.find("failure").attrib["message"]) == (0, 'joint <0> & "more"?')
    assert skipped.find("skipped").attrib["message"] == "the board has no cpu"


def test_the_file_is_written_whole(tmp_path: Path) -> None:
    write_junit(tmp_path / "deep" / "report.xml", "suite", CASES)
    assert ET.parse(tmp_path / "deep" / "report.xml").getroot().tag == "testsuite"
    assert [one.name for one in (tmp_path / "deep").iterdir()] == ["report.xml"]
