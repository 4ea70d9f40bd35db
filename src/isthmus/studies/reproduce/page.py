"""The page of a figure: one HTML file that loads nothing and runs nothing."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from isthmus.report.page import TEMPLATES as REPORT
from isthmus.report.page import policy

TEMPLATES = Path(__file__).parent / "templates"


def render(content: Mapping[str, Any]) -> str:
    """The page with this content in it, in the look of the reports; text is escaped."""
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    return environment.get_template("figure.html").render(
        content,
        plot=f"data:image/svg+xml;base64,{base64.b64encode(content['plot']).decode()}",
        policy=policy(),
        style=(REPORT / "report.css").read_text(encoding="utf-8"),
    )
