"""Pages of studies: one HTML file that loads nothing and runs nothing, in the look of the reports."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from isthmus.report.page import TEMPLATES as REPORT
from isthmus.report.page import policy

TEMPLATES = Path(__file__).parent / "templates"


def render(template: Path, content: Mapping[str, Any]) -> str:
    """The template with this content in it; text is escaped."""
    loader = FileSystemLoader((template.parent, TEMPLATES))
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    style = (REPORT / "report.css").read_text(encoding="utf-8")
    return environment.get_template(template.name).render(content, policy=policy(), style=style)


def picture(svg: bytes) -> str:
    """A drawing as a page holds it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
