"""Results of a campaign as JUnit XML, which every CI system shows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape, quoteattr

from isthmus.io import write_whole


class CaseLike(Protocol):
    """What a test report needs to know of a case."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def seconds(self) -> float:
        """CPU time it took."""
        ...

    @property
    def sentences(self) -> Sequence[str]:
        """What went wrong, a sentence each; none for a case that passed."""
        ...

    @property
    def skipped(self) -> str:
        """Why it was not run; empty if it was."""
        ...


def junit_xml(suite: str, cases: Sequence[CaseLike]) -> str:
    """The report's text."""
    failures = sum(bool(case.sentences) for case in cases)
    skipped = sum(bool(case.skipped) for case in cases)
    total = sum(case.seconds for case in cases)
    head = f"<testsuite name={_quoted(suite)} tests={_quoted(len(cases))} failures={_quoted(failures)}"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'{head} errors="0" skipped={_quoted(skipped)} time={_quoted(f"{total:.3f}")}>',
    ]
    for case in cases:
        lines.append(
            f"  <testcase classname={_quoted(suite)} name={_quoted(case.name)} time={_quoted(f'{case.seconds:.3f}')}>"
        )
        if case.skipped:
            lines.append(f"    <skipped message={_quoted(case.skipped)}/>")
        if case.sentences:
            text = escape(_printable("\n".join(case.sentences)))
            lines.append(f"    <failure message={_quoted(case.sentences[0])}>{text}</failure>")
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>", ""])


def write_junit(path: Path, suite: str, cases: Sequence[CaseLike]) -> None:
    """Write the report, whole or not at all."""
    write_whole(path, junit_xml(suite, cases).encode())


def _quoted(value: object) -> str:
    return quoteattr(_printable(str(value)))


def _printable(text: str) -> str:
    """Without the control characters that XML has no way to write."""
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "?" for c in text)
