"""The page as text: template, style, script and data in one file that loads nothing and runs nothing but its own."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from plotly.offline import get_plotlyjs

TEMPLATES = Path(__file__).parent / "templates"


def render(content: Mapping[str, Any]) -> str:
    """The page with this content in it. Text is escaped; data cannot leave its JSON block."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    script, plotly = _text("report.js"), _text_rows(get_plotlyjs())
    return environment.get_template("report.html").render(
        content,
        policy=policy(script, plotly),
        style=_text("report.css"),
        script=script,
        plotly=plotly,
    )


def policy(*scripts: str) -> str:
    """A content security policy that lets a browser run just these scripts, and load nothing from anywhere."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(name: str) -> str:
    return _text_rows((TEMPLATES / name).read_text(encoding="utf-8"))


def _text_rows(text: str) -> str:
    """With the line ends that a browser's parser leaves, so that the digest of a script is the browser's."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
